// Searches for one character: found or not is one outcome, and so is where.
//@ flags: -D_GNU_SOURCE
//@ max-len: 12
//@ random: "ab=:\n"
#include <stdio.h>
#include <string.h>

int main(void)
{
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return 1;
    char *first = strchr(text, '='), *last = strrchr(text, '=');
    char *nul = strchr(text, 0), *or_end = strchrnul(text, ':');
    printf("%d %d %d\n", first ? (int)(first - text) : -1, last ? (int)(last - text) : -1, (int)(or_end - text));
    if (!first)
        return 2;
    if (first != last)
        puts("twice");
    if (last - first == 3)
        puts("three apart");
    if (or_end == nul)
        puts("no colon");
    else if (or_end > last)
        puts("colon behind");
    return 0;
}
