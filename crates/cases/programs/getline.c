// getline, line by line.
//@ max-runs: 600
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    int found = 0;
    while (getline(&line, &size, stdin) > 0) {
        if (strcmp(line, "open\n") == 0)
            found = 1;
        else if (found && strcmp(line, "shut\n") == 0)
            return 2;
    }
    free(line);
    return 0;
}
