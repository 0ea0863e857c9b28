// An index that leaves a heap array far enough to crash.
//@ expect-bug: SIGSEGV
//@ diverges: the crash comes before the check is recorded
//@ seed: "\x00\x00\x00\x00\x00\x00\x00\x00"
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    long index;
    if (read(0, &index, 8) != 8)
        return 1;
    volatile int *array = calloc(16, sizeof *array);
    return array[index] == 3;
}
