// Formats that are no constants are asked when they are used whether they have counts stored.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ gives-up: function without a model
//@ lost-through: vfprintf
#include <stdarg.h>
#include <stdio.h>

static void __attribute__((noinline)) say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
}

int main(void)
{
    char text[2] = { 0, 0 };
    int c = getchar(), count = 0;
    if (c == EOF)
        return 1;
    text[0] = (char)c;
    say("%s\n%%n", text);
    say("%s%n\n", text, &count);
    return count == 0 ? 2 : 0;
}
