// Modulo by zero, unsigned.
//@ expect-bug: SIGFPE
#include <stdio.h>

int main(void)
{
    unsigned a = (unsigned)getchar(), b = (unsigned)getchar();
    return a % (b ^ 'k') == 3;
}
