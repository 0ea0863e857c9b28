// Scanning and printing through a list of arguments that the program passes on, and printing into new memory.
//@ flags: -D_GNU_SOURCE
//@ max-len: 8
//@ max-runs: 1500
//@ uncovered: 39
//@ random: "0123456789,- \n"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int scan(const char *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int count = vsscanf(text, format, list);
    va_end(list);
    return count;
}

static int print(char *to, size_t size, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int count = vsnprintf(to, size, format, list);
    va_end(list);
    return count;
}

int main(void)
{
    char text[16], out[16], *made;
    int a = 0, b = 0;
    if (!fgets(text, sizeof text, stdin))
        return 1;
    if (scan(text, "%d,%d", &a, &b) != 2)
        return 2;
    int count = print(out, sizeof out, "%d", a);
    if (asprintf(&made, "<%d>", b) < 0)
        return 9;
    printf("%d %s %s\n", count, out, made);
    if (strcmp(out, "37") == 0)
        return 3;
    if (strcmp(made, "<5>") == 0)
        return 4;
    free(made);
    return 0;
}
