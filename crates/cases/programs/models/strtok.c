// Strings cut into tokens.
//@ max-len: 16
//@ max-runs: 1000
//@ random: "ab,; \n"
#include <stdio.h>
#include <string.h>

int main(void)
{
    char text[20], copy[20];
    if (!fgets(text, sizeof text, stdin))
        return 1;
    strcpy(copy, text);
    int count = 0;
    for (char *token = strtok(text, ", \n"); token; token = strtok(NULL, ", \n"), count++) {
        printf("<%s>", token);
        if (count == 1 && !strcmp(token, "go"))
            puts("second is go");
    }
    if (count == 3)
        puts("three");
    char *rest = copy, *part = strsep(&rest, ";");
    if (rest)
        printf("%s|%s", part, rest);
    return 0;
}
