// A copy as long as the string is, and a scanner over it: the length ties no bytes together.
//@ max-len: 24
//@ max-runs: 120
//@ seed: "a quick brown fox jum"
//@ random: "ab ;\0"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy_of(const char *text, int length)
{
    char *copy = malloc(length + 2);
    for (int i = 0; i < length; i++)
        copy[i] = text[i];
    copy[length] = copy[length + 1] = 0;
    return copy;
}

int main(void)
{
    static char text[4096];
    int size = 0;
    for (int c; size < 24 && (c = getchar()) != EOF; size++)
        text[size] = c;
    char *copy = copy_of(text, strlen(text));
    if (copy[0] == 'x' && copy[3] == 'y' && copy[9] == copy[14])
        puts("three places");
    if (copy[17] == 'z' && copy[18] == copy[5])
        puts("two more");
    free(copy);
    if (strlen(text) == 23)
        puts("longer");
    return 0;
}
