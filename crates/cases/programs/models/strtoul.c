// Unsigned integers in text, in bases that have letters as digits.
//@ max-len: 5
//@ max-runs: 300
//@ random: "0123456789abcdefxXyzYZ+- \n"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char text[32];
    if (!fgets(text, sizeof text, stdin))
        return 1;
    unsigned long hex = strtoul(text, NULL, 16), base36 = strtoull(text, NULL, 36);
    printf("%lu %lu\n", hex, base36);
    if (hex == 0xfeed)
        puts("feed");
    if (base36 == 36 * 35 + 34)
        puts("zy");
    return 0;
}
