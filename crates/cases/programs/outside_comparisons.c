// Sorting and searching with comparisons of the library's own.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "m"
//@ gives-up: function without a model
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char words[4][4] = {"a", "f", "m", "x"}, key[4] = "";
    if (read(0, key, 1) != 1)
        return 1;
    char *found = bsearch(key, words, 4, 4, (int (*)(const void *, const void *))strverscmp);
    return found == words[2] ? 2 : 0;
}
