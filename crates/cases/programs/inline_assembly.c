// Inline assembly: runs, is not followed, is counted.
//@ gives-up: inline assembly
//@ uncovered: 13
#include <stdio.h>

int main(void)
{
    int c = getchar(), d;
    if (c == EOF)
        return 1;
    __asm__("leal 3(%1), %0" : "=r"(d) : "r"(c));
    printf("%d\n", d);
    if (d == 200)
        return 2;
    if (c == 'x')
        return 3;
    return 0;
}
