// Operators with care for signs and overflow: shifts, rotations, saturation, population count, byte order.
//@ flags: -O2
//@ seed: "01234567"
//@ same-output: "\xff\xff\xff\xff\xff\xff\xff\xff"
//@ same-output: "\x00\x00\x00\x80\xff\xff\xff\xff"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    uint32_t x, y;
    unsigned char in[8];
    if (read(0, in, 8) != 8)
        return 1;
    memcpy(&x, in, 4);
    memcpy(&y, in + 4, 4);
    int32_t s = (int32_t)x, t = (int32_t)y, sum;
    if (__builtin_add_overflow(s, t, &sum))
        return 2;
    if (__builtin_mul_overflow(x, y, &x) && x == 0x55)
        return 3;
    if ((y << 5 | y >> 27) == 0xdeadbeef)
        return 4;
    if (__builtin_popcount(y) == 31)
        return 5;
    if (__builtin_bswap32(y) == 0x01020304)
        return 6;
    if (t >> 3 == -5)
        return 7;
    if (t % 10 == -7 && t < -100)
        return 8;
    if (y != 0 && __builtin_clz(y) == 9 && __builtin_ctz(y) == 9)
        return 9;
    if (y / 1000 == 777)
        return 10;
    return 0;
}
