// Floats: comparison with constants, arithmetic, conversion from and to integers.
//@ seed: "01234567"
//@ same-output: "\x00\x00\xc0\x7f\x00\x00\x80\xff"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    float f[2];
    if (read(0, f, sizeof f) != sizeof f)
        return 1;
    if (f[0] == 3.5f)
        return 2;
    if (f[0] < -1.0e10f)
        return 3;
    if (f[0] != f[0])
        return 4;
    if ((int)f[1] == 42 && f[1] > 42.25f)
        return 5;
    if (f[1] * 2.0f + 1.0f == 100.0f)
        return 6;
    return 0;
}
