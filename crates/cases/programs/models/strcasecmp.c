// Comparisons that ignore case: three outcomes each, in one expression.
//@ max-len: 12
//@ random: "eExXiItT \n"
#include <stdio.h>
#include <string.h>
#include <strings.h>

int main(void)
{
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return 1;
    int whole = strcasecmp(text, "exit\n");
    int part = strncasecmp(text, "Extra", 3);
    if (whole == 0)
        puts("equal");
    else if (whole < 0)
        puts("below");
    else
        puts("above");
    if (part == 0)
        puts("same start");
    return 0;
}
