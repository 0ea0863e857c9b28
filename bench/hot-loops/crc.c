/* Table-driven CRC-32 over a buffer: a chain of table reads. */
#include <stdio.h>
#include <stdint.h>
static uint32_t table[256];
static unsigned char data[1 << 16];
int main(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
    for (unsigned i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 31 + (i >> 8));
    uint32_t crc = 0xFFFFFFFFu;
    for (int round = 0; round < 2000; round++)
        for (unsigned i = 0; i < sizeof data; i++) crc = table[(crc ^ data[i]) & 0xFF] ^ (crc >> 8);
    printf("%08x\n", crc);
    return 0;
}
