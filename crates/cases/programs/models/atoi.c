// Decimal numbers without a check.
//@ max-len: 12
//@ max-runs: 400
//@ random: "0123456789+- \n"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return 1;
    int a = atoi(text);
    long b = atol(text), c = atoll(text);
    printf("%d %ld %ld\n", a, b, c);
    if (a == 31337)
        puts("number");
    if (a == -12)
        puts("negative");
    return 0;
}
