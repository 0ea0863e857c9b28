// What is put back need not be what was read.
//@ exhaustive: max-len=2 paths=6 complete
//@ seed: "ab"
//@ expect-bug: SIGILL
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int byte = getchar();
    if (byte == EOF)
        return 1;
    ungetc(byte ^ 1, stdin);
    if (getchar() == 'y')
        return 2;
    ungetc('z', stdin);
    ungetc(byte, stdin);
    if (getchar() == 'z')
        return 3;
    if (getchar() != 'z')
        abort();
    byte = getchar();
    if (byte == 'q')
        __builtin_trap();
    return byte == EOF ? 4 : 0;
}
