// The old names of strchr and strrchr.
//@ flags: -D_GNU_SOURCE -fno-builtin
//@ max-len: 8
//@ random: "ab=\n"
#include <stdio.h>
#include <strings.h>

int main(void)
{
    char text[12];
    if (!fgets(text, sizeof text, stdin))
        return 1;
    char *first = index(text, '='), *last = rindex(text, '=');
    if (!first)
        return 2;
    printf("%d %d\n", (int)(first - text), (int)(last - text));
    if (last - first == 3)
        return 3;
    return 0;
}
