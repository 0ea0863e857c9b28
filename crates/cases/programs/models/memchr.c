// Searches in memory of a given size, from both ends.
//@ flags: -D_GNU_SOURCE
//@ max-len: 8
//@ random: "\0\x01qz"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char bytes[8] = {0};
    if (read(0, bytes, 8) != 8)
        return 1;
    char *first = memchr(bytes, 'q', 8), *last = memrchr(bytes, 'q', 8);
    if (!first)
        return 2;
    printf("%d %d\n", (int)(first - bytes), (int)(last - bytes));
    if (first == last)
        puts("one");
    if (memmem(bytes, 8, "\0z", 2))
        puts("pair");
    return 0;
}
