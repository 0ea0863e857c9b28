// Functions that read and mix and are no hashes: what they return is solved for.
//@ seed: "0000000000000000000000000"
//@ max-len: 25
//@ max-runs: 200
#include <stdint.h>
#include <unistd.h>

__attribute__((noinline)) static unsigned decimal(const unsigned char *text, unsigned size)
{
    unsigned number = 0;
    for (unsigned i = 0; i < size; i++)
        number = number * 10 + (text[i] - '0');
    return number;
}

__attribute__((noinline)) static unsigned big_endian(const unsigned char *text, unsigned size)
{
    unsigned number = 0;
    for (unsigned i = 0; i < size; i++)
        number = number << 8 | text[i];
    return number;
}

__attribute__((noinline)) static int zigzag(const unsigned char *text, unsigned size)
{
    unsigned number = 0;
    for (unsigned i = 0; i < size; i++)
        number |= (text[i] & 0x7fu) << 7 * i;
    return (int)(number >> 1 ^ -(number & 1));
}

__attribute__((noinline)) static uint32_t checksum(const unsigned char *text, unsigned size)
{
    uint32_t sum = 0xffffffff;
    for (unsigned i = 0; i < size; i++) {
        sum ^= text[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (-(sum & 1) & 0xedb88320);
    }
    return ~sum;
}

int main(void)
{
    unsigned char in[17];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    if (decimal(in, 5) == 47119)
        return 2;
    if (big_endian(in + 5, 4) == 0xcafebabe)
        return 3;
    if (zigzag(in + 9, 4) == -70000)
        return 4;
    if (checksum(in + 13, 4) == 0x2144df1c)
        return 5;
    return 0;
}
