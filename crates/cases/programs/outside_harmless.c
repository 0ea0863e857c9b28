// An object without bitcode that gets nothing of the input, and cannot reach it, is no loss.
//@ native: native/keeper.c
//@ exhaustive: max-len=1 paths=3 complete
//@ seed: "a"
//@ expect-bug: SIGILL
#include <unistd.h>

unsigned char shared[4];
int sees_nothing(const int *numbers, int count);

int main(void)
{
    static const int numbers[] = {1, 2, 3};
    int own[2] = {4, 5};
    unsigned char byte;
    if (read(0, &byte, 1) != 1)
        return 1;
    if (sees_nothing(numbers, 3) != 3 || sees_nothing(own, 2) != 5)
        return 2;
    if (byte == 'x')
        __builtin_trap();
    return 0;
}
