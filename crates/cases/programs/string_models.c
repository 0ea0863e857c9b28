// The string functions of the C library.
//@ max-runs: 250
//@ diverges: strchr does not say that the string has no earlier end
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char line[24] = {0};
    if (!fgets(line, sizeof line, stdin))
        return 1;
    if (strlen(line) == 7 && strchr(line, '=') == line + 3)
        return 2;
    if (strncmp(line, "number ", 7) == 0 && atoi(line + 7) == 4321)
        return 3;
    if (memcmp(line, "\x01\x02\xff", 3) == 0)
        return 4;
    if (strtol(line, NULL, 10) == -77)
        return 8;
    return 0;
}
