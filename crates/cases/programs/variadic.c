// Variadic functions with symbolic integers, doubles and strings.
//@ uncovered: 16, 18, 20, 22
//@ seed: "0123456789abcdefghij"
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static double sum(const char *kinds, ...)
{
    va_list list, copy;
    va_start(list, kinds);
    va_copy(copy, list);
    double total = 0;
    for (; *kinds; kinds++) {
        if (*kinds == 'i')
            total += va_arg(copy, int);
        else if (*kinds == 'l')
            total += (double)va_arg(copy, long);
        else if (*kinds == 'd')
            total += va_arg(copy, double);
        else
            total += (double)strlen(va_arg(copy, const char *));
    }
    va_end(copy);
    va_end(list);
    return total;
}

__attribute__((noinline)) static int nth(int n, ...)
{
    va_list list;
    va_start(list, n);
    int value = 0;
    while (n-- >= 0)
        value = va_arg(list, int);
    va_end(list);
    return value;
}

int main(void)
{
    unsigned char in[20];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    if (sum("ids", in[0], (double)in[1], "abc") == 400.0)
        return 2;
    if (sum("lll", (long)in[2], -(long)in[3], 1L) == -200.0)
        return 3;
    if (nth(9, in[4], in[5], in[6], in[7], in[8], in[9], in[10], in[11], in[12], in[13]) == 0xaa)
        return 4;
    if (nth(2, in[14], in[15], in[16] * 3) == 300)
        return 5;
    return 0;
}
