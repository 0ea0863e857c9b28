// The same from a long input on: shorter ones leave more bytes as they were.
//@ exhaustive: max-len=3 paths=9 complete
//@ seed: "xyz"
#include <stdio.h>
#include <string.h>

int main(void)
{
    char text[16] = {0};
    fread(text, 1, 15, stdin);
    if (!strcmp(text, "hi"))
        return 10;
    if (!strncmp(text, "q", 1))
        return 12;
    return 11;
}
