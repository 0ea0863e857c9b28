// Integers of every width from bool to 64 bits, signed and unsigned.
//@ seed: "0123456789abcdef"
//@ same-output: "\x00\xff\x80\x7f\x01\x02\x03\x04\xfe\xdc\xba\x98\x76\x54\x32\x10"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    unsigned char in[16] = {0};
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    bool b = in[0] & 1;
    int8_t i8 = (int8_t)in[1];
    uint16_t u16 = (uint16_t)(in[2] | in[3] << 8);
    int16_t i16 = (int16_t)(u16 * 3);
    uint32_t u32;
    memcpy(&u32, in + 4, 4);
    int64_t i64;
    memcpy(&i64, in + 8, 8);
    int found = 0;
    if (b)
        found |= 1;
    if (i8 < -100)
        found |= 2;
    if (i16 == -3)
        found |= 4;
    if (u32 * 2654435761u == 0x12345678u)
        found |= 8;
    if (i64 - 1 == 0x0123456789abcdefLL)
        found |= 16;
    if ((uint64_t)i64 >> 33 == 77)
        found |= 32;
    printf("%d %u %d\n", 1, 2u, 3);
    return found > 60;
}
