// A write whose index leaves a global array.
//@ expect-bug: SIGSEGV
//@ seed: "\x00\x00\x00\x00\x00\x00\x00\x00"
#include <unistd.h>

static volatile int array[16];

int main(void)
{
    long index;
    if (read(0, &index, 8) != 8)
        return 1;
    array[index] = 3;
    return array[2];
}
