// Memory that is asked for, grown and given back keeps what is in it.
//@ flags: -D_GNU_SOURCE -fno-builtin
//@ max-len: 6
//@ max-runs: 600
//@ random: "abc\0\xff"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    unsigned char in[6];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    unsigned char *first = malloc(3), *second = calloc(2, 4);
    first[0] = in[0];
    first[2] = in[1];
    printf("%d\n", second[in[2] % 8]);
    first = realloc(first, 5000);
    second = reallocarray(second, 100, 8);
    second[99] = in[3];
    printf("%d %d %d\n", first[0], first[2], second[99]);
    if (first[0] == 'm' && first[2] == 'n')
        return 2;
    if (second[99] == 'q')
        return 3;
    free(first);
    free(second);
    return 0;
}
