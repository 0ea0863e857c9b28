// Thread-local variables.
//@ uncovered: 17
#include <stdio.h>

static _Thread_local int current = 5;
static _Thread_local char text[4] = "abc";

int main(void)
{
    int c = getchar();
    if (c == EOF)
        return 1;
    current += c;
    text[1] = (char)c;
    if (current == 105)
        return 2;
    if (text[1] == 'z' && text[2] == 'c')
        return 3;
    return 0;
}
