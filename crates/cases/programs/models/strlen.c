// Lengths, with and without a limit.
//@ max-len: 10
//@ random: "ab\0"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char text[16] = {0};
    if (read(0, text, 10) <= 0)
        return 1;
    printf("%zu %zu\n", strlen(text), strnlen(text, 4));
    if (strlen(text) == 6)
        puts("six");
    if (strnlen(text, 4) == 2)
        puts("two of four");
    return 0;
}
