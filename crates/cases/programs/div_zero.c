// Division and modulo by zero.
//@ expect-bug: SIGFPE
#include <stdio.h>
int main(void)
{
    int a = getchar(), b = getchar();
    if (a == EOF || b == EOF)
        return 1;
    return 100 / (b - 'x') > 3;
}
