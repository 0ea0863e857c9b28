/* A small target: reads a line and looks at a few of its bytes. */
#include <stdio.h>

int main(void)
{
    char line[64];
    if (!fgets(line, sizeof line, stdin))
        return 1;
    if (line[0] == '(' && line[1] != ')')
        puts("open");
    return line[2] == '+';
}
