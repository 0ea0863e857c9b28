// An index into a heap array of structures, of another object for each length of the input.
//@ seed: "ab"
//@ max-len: 8
//@ uncovered: 19
#include <stdio.h>
#include <stdlib.h>

struct entry {
    int key;
    short value;
};

int main(void)
{
    int index = getchar(), limit = getchar();
    if (limit == EOF || limit < 8)
        return 1;
    struct entry *entries = calloc((size_t)limit, sizeof *entries);
    if (!entries)
        return 9;
    for (int i = 0; i < limit; i++)
        entries[i] = (struct entry){i * 7, (short)(i ^ 21)};
    if (index >= limit)
        return 2;
    if (entries[index].key == 35 * 7)
        return 3;
    if (entries[index].value == 0)
        return 4;
    free(entries);
    return 0;
}
