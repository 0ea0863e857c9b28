// Small functions of numbers, called as functions.
//@ flags: -fno-builtin
//@ max-len: 8
//@ random: "\0\x01\xff\x80"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    int a;
    short b;
    unsigned char in[6];
    if (read(0, in, 6) != 6)
        return 1;
    memcpy(&a, in, 4);
    memcpy(&b, in + 4, 2);
    uint32_t (*swap)(uint32_t) = ntohl;
    div_t parts = div(a, 1000);
    ldiv_t more = ldiv(b, 7);
    printf("%d %ld %u %d %d %ld %ld\n", abs(b), labs(a), swap(a), parts.quot, parts.rem, more.quot, more.rem);
    if (abs(b) == 300)
        puts("abs");
    if (swap(a) == 0x01020304)
        puts("swapped");
    if (parts.quot == -5 && parts.rem == -7)
        puts("div");
    if (more.rem == 6)
        puts("ldiv");
    return 0;
}
