// All arguments of a list that a wrapper hands on are looked at, those on the stack, too.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "x"
//@ gives-up: function without a model
//@ lost-through: vfprintf
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

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
    if (read(0, text, 1) != 1)
        return 1;
    if (tell("%d%d%d%d%s\n", 1, 2, 3, 4, text) == 5)
        return 2;
    return 0;
}
