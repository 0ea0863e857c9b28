// Records with a length byte each, and in the second one a length of two bytes in network order, then a mark.
//@ max-len: 40
//@ max-runs: 1500
#include <stdio.h>
#include <string.h>

static unsigned char in[64];

int main(void)
{
    size_t size = fread(in, 1, sizeof in, stdin), at = 0;
    if (at + 1 > size)
        return 1;
    size_t first = in[at++];
    if (first < 2 || at + first > size)
        return 2;
    at += first;
    if (at + 2 > size)
        return 3;
    size_t second = (size_t)in[at] << 8 | in[at + 1];
    at += 2;
    if (second != first + 5 || at + second > size)
        return 4;
    if (memcmp(in + at + second - 3, "end", 3) == 0)
        return 5;
    return 0;
}
