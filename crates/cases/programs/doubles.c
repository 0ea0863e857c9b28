// Doubles: comparison with constants, arithmetic, conversion.
//@ seed: "0123456789abcdef"
//@ same-output: "\x00\x00\x00\x00\x00\x00\xf8\x7f\x01\x00\x00\x00\x00\x00\x00\x00"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    double d;
    long n;
    unsigned char in[16];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    memcpy(&d, in, 8);
    memcpy(&n, in + 8, 8);
    if (d == 1.5)
        return 2;
    if (d >= 1.0e300)
        return 3;
    if (d - 0.5 == 1024.0)
        return 4;
    if (fabs(d) == 8.0 && d < 0)
        return 5;
    if ((double)n == 4096.0)
        return 6;
    if ((float)d == 0.25f)
        return 7;
    if ((long)d == -3)
        return 8;
    return 0;
}
