// Decimal fractions as floats.
//@ max-len: 7
//@ max-runs: 400
//@ gives-up: library call beyond its model
//@ diverges: hexadecimal, long and infinite numbers are not described
//@ random: "0123456789.eE+- \n"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char text[16], *end;
    if (!fgets(text, sizeof text, stdin))
        return 1;
    double number = strtod(text, &end);
    float single = strtof(text, NULL);
    printf("%.17g %.9g %.17g %d\n", number, single, atof(text), (int)(end - text));
    if (number == 2.5)
        puts("two and a half");
    if (number < -10)
        puts("below");
    if (number == 3e5)
        puts("300000");
    return 0;
}
