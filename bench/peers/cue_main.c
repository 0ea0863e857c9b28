/* Parses a cue sheet from the standard input, as a player does. */
#include <stdio.h>

#include "libcue.h"

int main(void)
{
    static char text[1 << 16];
    size_t size = fread(text, 1, sizeof text - 1, stdin);
    text[size] = 0;
    Cd *cd = cue_parse_string(text);
    if (!cd)
        return 1;
    printf("%d tracks\n", cd_get_ntrack(cd));
    cd_delete(cd);
    return 0;
}
