// An index that leaves a heap array far enough to crash.
//@ expect-bug: SIGSEGV
//@ seed: "\x00\x00\x00\x00"
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    int index;
    if (read(0, &index, 4) != 4)
        return 1;
    int *array = calloc(16, sizeof *array);
    return array && array[index] == 3;
}
