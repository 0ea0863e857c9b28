// Copies that overlap, fills with a byte of the input, comparisons of memory: three outcomes, or two.
//@ flags: -D_GNU_SOURCE -fno-builtin
//@ max-len: 8
//@ max-runs: 600
//@ random: "\0\x01ab\x80\xff"
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int main(void)
{
    unsigned char in[8] = {0}, out[16];
    if (read(0, in, 8) != 8)
        return 1;
    memset(out, in[0], sizeof out);
    unsigned char *end = mempcpy(out, in + 1, 4);
    memmove(out + 1, out, 4);
    int order = memcmp(in, "bcd", 3);
    printf("%d %d %d %d\n", (int)(end - out), out[0], out[4], out[9]);
    if (order < 0)
        puts("before");
    else if (order > 0)
        puts("after");
    else
        puts("equal");
    if (bcmp(in + 4, out + 8, 2) == 0)
        puts("same");
    if (out[4] == 'x' && out[15] == 'y')
        return 2;
    return 0;
}
