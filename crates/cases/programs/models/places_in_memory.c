// Pointers and sizes that stand in memory, where library functions read them.
//@ flags: -D_GNU_SOURCE
//@ exhaustive: max-len=3 paths=11 complete
//@ random: "abcd\x01\x02"
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void)
{
    unsigned char in[2] = {0};
    if (read(0, in, 2) != 2)
        return 1;
    char text[8] = "ab,d,e", bytes[4] = "zzz", *rest = text + (in[1] & 1);
    struct iovec piece = {bytes, (in[1] & 1)};
    switch (in[0]) {
    case 'a':
        puts(strsep(&rest, ",")[0] == 'a' ? "a" : "other");
        break;
    case 'b':
        puts(strtok_r(0, ",", &rest)[0] == 'a' ? "a" : "other");
        break;
    case 'c':
        puts(readv(0, &piece, 1) == 1 ? "one" : "nothing");
        break;
    case 'd':
        puts(preadv(0, &piece, 1, 2) == 1 ? "one" : "nothing");
        break;
    }
    return 0;
}
