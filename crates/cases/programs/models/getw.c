// A word of four bytes.
//@ max-len: 8
//@ random: "abcd"
#include <stdio.h>

int main(void)
{
    int word = getw(stdin);
    if (feof(stdin))
        return 1;
    if (word == 0x44434241)
        puts("ABCD");
    if (getchar() == '!')
        puts("more");
    return 0;
}
