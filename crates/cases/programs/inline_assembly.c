// Inline assembly: runs, is not followed, is counted.
//@ gives-up: inline assembly
//@ seed: "0000"
//@ uncovered: 14
#include <stdio.h>

int main(void)
{
    unsigned n, d;
    if (fread(&n, sizeof n, 1, stdin) != 1)
        return 1;
    __asm__("leal 3(%1), %0" : "=r"(d) : "r"(n));
    printf("%u\n", d);
    if (d == 0x12345678)
        return 2;
    if (n % 256 == 'x')
        return 3;
    return 0;
}
