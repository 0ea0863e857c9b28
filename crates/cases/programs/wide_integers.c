// Integers wider than 128 bits: right, not followed, counted.
//@ gives-up: integer wider than 128 bits
#include <stdio.h>

int main(void)
{
    int c = getchar();
    if (c == EOF)
        return 1;
    unsigned _BitInt(200) x = (unsigned)c;
    x = x << 150 | x;
    x *= 3;
    printf("%u\n", (unsigned)(x >> 150));
    if ((unsigned)(x >> 151) == 150)
        return 2;
    return 0;
}
