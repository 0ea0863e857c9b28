// long double: right, not followed, counted.
//@ gives-up: long double
//@ same-output: "A"
#include <stdio.h>

int main(void)
{
    int c = getchar();
    if (c == EOF)
        return 1;
    long double x = c;
    x = x * 3 + 1;
    printf("%.1Lf\n", x);
    if (x == 301.0L)
        return 2;
    return 0;
}
