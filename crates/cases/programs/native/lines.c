#include <stdio.h>

/* A line of at most `size` bytes, by way of a buffer of its own. */
int get_line(char *to, int size)
{
    static char own[64];
    if (!fgets(own, size < 64 ? size : 64, stdin))
        return 0;
    return sprintf(to, "%s", own);
}

int get_byte(void)
{
    return getchar();
}
