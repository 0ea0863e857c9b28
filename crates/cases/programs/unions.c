// Unions: written as one type, read as another.
//@ seed: "01234567"
#include <stdint.h>
#include <unistd.h>

union view {
    uint64_t whole;
    uint32_t halves[2];
    uint16_t quarters[4];
    uint8_t bytes[8];
    double number;
};

int main(void)
{
    union view v;
    if (read(0, v.bytes, 8) != 8)
        return 1;
    if (v.quarters[2] == 0xbeef)
        return 2;
    v.halves[0] += 5;
    if (v.whole == 0x1122334455667788)
        return 3;
    if (v.number == 2.5)
        return 4;
    v.bytes[7] = 0;
    if (v.halves[1] == 0x00abcdef)
        return 5;
    return 0;
}
