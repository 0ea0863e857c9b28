// A key of 20 bytes behind a table-driven checksum: first the checksum must fit, then every byte.
//@ seed: "aaaaaaaaaaaaaaaaaaaa01"
//@ max-runs: 400
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint16_t table[256];

static void fill_table(void)
{
    for (unsigned i = 0; i < 256; i++) {
        unsigned c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ 0xa001 : c >> 1;
        table[i] = (uint16_t)c;
    }
}

static uint16_t checksum(const unsigned char *bytes, int size)
{
    uint16_t c = 0xffff;
    for (int i = 0; i < size; i++)
        c = (uint16_t)(table[(c ^ bytes[i]) & 0xff] ^ c >> 8);
    return c;
}

int main(void)
{
    unsigned char in[22];
    uint16_t stored;
    fill_table();
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    memcpy(&stored, in + 20, 2);
    if (checksum(in, 20) != stored)
        return 2;
    if (memcmp(in, "correct horse batter", 20) == 0)
        return 4;
    return 3;
}
