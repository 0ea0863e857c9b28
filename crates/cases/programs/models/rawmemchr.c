// A search without a limit: what lies behind the match is not looked at, so the match is a branch.
//@ flags: -D_GNU_SOURCE
//@ max-len: 8
//@ diverges: the place of the match is a branch
//@ random: "\x01qz"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char bytes[9] = "........q";
    if (read(0, bytes, 8) != 8)
        return 1;
    char *found = rawmemchr(bytes, 'q');
    printf("%d\n", (int)(found - bytes));
    if (found - bytes == 5)
        puts("sixth");
    return 0;
}
