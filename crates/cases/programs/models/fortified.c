// The checked twins of `_FORTIFY_SOURCE`: the same results, and the same end on overflow.
//@ flags: -O1 -D_FORTIFY_SOURCE=2
//@ max-len: 12
//@ max-runs: 1000
//@ expect-bug: SIGABRT
//@ diverges: the library ends the program before the check is recorded
//@ random: "abc7\n"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char text[16], small[6], out[8];
    if (!fgets(text, sizeof text, stdin))
        return 1;
    size_t size = strcspn(text, "\n");
    if (size > 3)
        memcpy(small, text, size);
    else
        strcpy(small, text);
    snprintf(out, sizeof out, "%c%s", small[0], "x");
    if (out[0] == '7')
        puts("seven");
    return 0;
}
