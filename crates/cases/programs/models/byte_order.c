// Numbers in network order.
//@ flags: -fno-builtin
//@ max-len: 8
//@ max-runs: 300
//@ random: "\0\x01\x12\x34\xff"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    unsigned char in[8];
    uint16_t half;
    uint32_t word;
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    memcpy(&half, in, 2);
    memcpy(&word, in + 4, 4);
    printf("%u %u %u %u\n", ntohs(half), htons(half), ntohl(word), htonl(word));
    if (ntohs(half) == 0x1f90)
        return 2;
    if (htons(half) == 0x1234)
        return 3;
    if (htonl(word) == 0xcafe0001)
        return 4;
    if (ntohl(word) < 5)
        return 5;
    return 0;
}
