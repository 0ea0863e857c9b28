// Lines of any length, and pieces that end with any character.
//@ flags: -D_GNU_SOURCE
//@ max-len: 10
//@ max-runs: 800
//@ random: "ab;\n"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size = getline(&line, &room, stdin);
    printf("%zd %s\n", size, size > 0 ? line : "-");
    if (size == 4 && line[1] == 'x')
        puts("four");
    size = getdelim(&line, &room, ';', stdin);
    printf("%zd %s\n", size, size > 0 ? line : "-");
    if (size > 0 && strcmp(line, "ok;") == 0)
        puts("ok");
    free(line);
    return 0;
}
