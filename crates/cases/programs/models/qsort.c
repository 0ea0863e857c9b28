// Sorting and searching with a comparison of the program's: expressions follow the elements.
//@ max-len: 5
//@ max-runs: 3000
//@ random: "abcde\xff"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int by_value(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

struct big { unsigned char key; char room[47]; };

static int by_key(const void *a, const void *b)
{
    const struct big *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

int main(void)
{
    unsigned char in[5], wanted = 'm';
    struct big big[3] = {0};
    if (read(0, in, 5) != 5)
        return 1;
    for (int i = 0; i < 3; i++)
        big[i].key = in[i], big[i].room[0] = i;
    qsort(in, 5, 1, by_value);
    qsort(big, 3, sizeof *big, by_key);
    printf("%d %d %d %d\n", in[0], in[2], in[4], big[0].room[0]);
    if (in[0] == 'k' && in[4] == 'o')
        puts("from k to o");
    if (bsearch(&wanted, in, 5, 1, by_value))
        puts("m");
    if (big[0].room[0] == 2 && big[2].room[0] == 0)
        puts("reversed");
    return 0;
}
