// Prints a lot, part of it from the input.
//@ max-runs: 40
#include <stdio.h>

int main(void)
{
    int c = getchar();
    for (int i = 0; i < 20000; i++)
        printf("line %d of a long output\n", i);
    if (c == 'k')
        puts("found");
    return 0;
}
