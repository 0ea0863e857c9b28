// Sorting with a comparison that has an argument of its own.
//@ flags: -D_GNU_SOURCE
//@ max-len: 4
//@ max-runs: 1500
//@ random: "abcd\xff"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int compare(const void *a, const void *b, void *sign)
{
    return *(int *)sign * (*(const unsigned char *)a - *(const unsigned char *)b);
}

int main(void)
{
    unsigned char in[4];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    int down = -1;
    qsort_r(in, sizeof in, 1, compare, &down);
    printf("%d %d %d %d\n", in[0], in[1], in[2], in[3]);
    if (in[0] == 'z' && in[3] == 'k')
        return 2;
    return 0;
}
