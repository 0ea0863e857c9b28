// Library code that calls back: qsort and bsearch with instrumented comparisons.
//@ uncovered: 22
//@ seed: "01234567"
//@ same-output: "hgfedcba"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int compare(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

int main(void)
{
    unsigned char in[4];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    unsigned char key = in[3] ^ 0x20;
    qsort(in, 3, 1, compare);
    write(1, in, 3);
    if (in[0] > in[1] || in[1] > in[2])
        return 9;
    unsigned char *found = bsearch(&key, in, 3, 1, compare);
    if (found && in[1] == 'm')
        return 2;
    return 0;
}
