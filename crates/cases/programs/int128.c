// 128-bit integers.
//@ seed: "0123456789abcdef"
//@ same-output: "\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x80"
#include <string.h>
#include <unistd.h>

int main(void)
{
    unsigned __int128 x;
    if (read(0, &x, sizeof x) != sizeof x)
        return 1;
    unsigned __int128 big = ((unsigned __int128)0x1122334455667788ull << 64) | 0x99aabbccddeeff00ull;
    if (x + 1 == big)
        return 2;
    if ((__int128)x < -((__int128)1 << 126))
        return 3;
    if (x >> 100 == 0x1234567)
        return 4;
    if ((x ^ big) * 3 == 9)
        return 5;
    return 0;
}
