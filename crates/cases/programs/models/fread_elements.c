// How many whole elements come hangs on the input's length.
//@ exhaustive: max-len=5 paths=4 complete
//@ seed: "abcde"
#include <stdio.h>

int main(void)
{
    char bytes[4];
    size_t count = fread(bytes, 2, 2, stdin);
    if (count == 2)
        return 12;
    if (count == 1)
        return 11;
    return 10;
}
