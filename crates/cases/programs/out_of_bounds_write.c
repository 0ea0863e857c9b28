// A write whose index leaves a stack array.
//@ expect-bug: SIGSEGV
//@ seed: "\x00\x00\x00\x00"
#include <unistd.h>

int main(void)
{
    int index;
    volatile int array[16] = {0};
    if (read(0, &index, 4) != 4)
        return 1;
    array[index] = 3;
    return array[2];
}
