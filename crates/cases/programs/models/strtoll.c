// Integers of 64 bits in text.
//@ max-len: 12
//@ max-runs: 800
//@ random: "0123456789abcdefx+- \n"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char text[16], *end;
    if (!fgets(text, sizeof text, stdin))
        return 1;
    long long number = strtoll(text, &end, 0);
    unsigned long long other = strtoull(text, NULL, 16);
    printf("%lld %llu %d\n", number, other, (int)(end - text));
    if (number == -35)
        return 2;
    if (other == 0xbeef)
        return 3;
    return 0;
}
