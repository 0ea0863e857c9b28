// How much output functions have printed is not followed, where a format has it stored or the
// result is used.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ gives-up: function without a model
//@ lost-through: fprintf
//@ lost-through: vfprintf
#include <stdarg.h>
#include <stdio.h>

static int tell(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int count = vprintf(format, list);
    va_end(list);
    return count;
}

int main(void)
{
    char text[2] = { 0, 0 };
    int c = getchar(), count = 0;
    if (c == EOF)
        return 1;
    text[0] = (char)c;
    fprintf(stderr, "%d%n\n", c, &count);
    if (count == 3)
        return 2;
    // With a format that is no constant, and data two pointers away.
    if (tell("%s", text) == 0)
        return 3;
    return 0;
}
