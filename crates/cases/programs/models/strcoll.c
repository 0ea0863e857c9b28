// In the C locale strings are ordered by their bytes.
//@ max-len: 8
//@ random: "kKeEyY\n"
#include <stdio.h>
#include <string.h>

int main(void)
{
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return 1;
    int order = strcoll(text, "key");
    if (order == 0)
        puts("equal");
    else if (order < 0)
        puts("below");
    else
        puts("above");
    return 0;
}
