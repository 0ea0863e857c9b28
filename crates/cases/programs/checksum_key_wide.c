// The same with a checksum of 32 bits, which no search meets by luck: the stored one is computed for the key.
//@ seed: "aaaaaaaaaaaaaaaaaaaa0123"
//@ max-runs: 40
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint32_t table[256];

static void fill_table(void)
{
    for (unsigned i = 0; i < 256; i++) {
        unsigned c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
        table[i] = (uint32_t)c;
    }
}

static uint32_t checksum(const unsigned char *bytes, int size)
{
    uint32_t c = 0xffffffffu;
    for (int i = 0; i < size; i++)
        c = (uint32_t)(table[(c ^ bytes[i]) & 0xff] ^ c >> 8);
    return c;
}

int main(void)
{
    unsigned char in[24];
    uint32_t stored;
    fill_table();
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    memcpy(&stored, in + 20, 4);
    if (checksum(in, 20) != stored)
        return 2;
    if (memcmp(in, "correct horse batter", 20) == 0)
        return 4;
    return 3;
}
