// An array of one function, read at a symbolic index in another that only has a pointer.
//@ expect-bug: SIGABRT
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) int look(const char *line, int index)
{
    if (line[index & 15] == 'z')
        abort();
    return line[0];
}

int main(void)
{
    char line[100];
    for (int i = 0; i < 99; i++)
        line[i] = 'a' + i % 25;
    line[12] = 'z';
    int c = getchar();
    if (c < 0)
        return 1;
    return look(line, c) == 0;
}
