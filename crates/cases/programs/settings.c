// A line of settings, cut by strtok and read by sscanf: names, numbers, and a range of both.
//@ seed: "w=1;h=2\n"
//@ max-len: 32
//@ max-runs: 600
//@ diverges: where a number ends is a branch for each character
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[40], key[8];
    int width = 0, height = 0, seen = 0;
    if (!fgets(line, sizeof line, stdin))
        return 1;
    for (char *part = strtok(line, ";\n"); part; part = strtok(NULL, ";\n")) {
        int value;
        if (sscanf(part, "%7[a-z]=%d", key, &value) != 2)
            return 2;
        if (strcmp(key, "w") == 0)
            width = value;
        else if (strcmp(key, "h") == 0)
            height = value;
        else
            return 3;
        seen++;
    }
    if (seen == 2 && width == 6 && height == 4)
        return 4;
    return 0;
}
