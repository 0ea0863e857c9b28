// Integers of odd widths.
//@ seed: "01234567"
//@ same-output: "\xff\x03\x00\x80\x10\x20\x40\x80"
#include <string.h>
#include <unistd.h>

int main(void)
{
    unsigned char in[8];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    unsigned _BitInt(7) a = in[0];
    _BitInt(17) b = (_BitInt(17))(in[1] | in[2] << 8 | in[3] << 16);
    unsigned _BitInt(40) c = (unsigned _BitInt(40))in[4] << 32 | (unsigned _BitInt(40))in[5] << 8 | in[6];
    if (a + (unsigned _BitInt(7))100 == 3)
        return 2;
    if (b == -65536)
        return 3;
    if (c == 0xff0000aa55)
        return 4;
    unsigned _BitInt(40) kept[2] = {c, 7};
    if (kept[in[7] & 1] == 0x1200003456)
        return 5;
    return 0;
}
