// Decimal fractions in wide strings as floats.
//@ max-len: 7
//@ max-runs: 400
//@ gives-up: library call beyond its model
//@ diverges: hexadecimal, long and infinite numbers are not described
//@ random: "0123456789.eE+- \n"
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>

int main(void)
{
    unsigned char in[7];
    wchar_t text[8] = {0}, *end;
    ssize_t size = read(0, in, sizeof in);
    for (int i = 0; i < size; i++)
        text[i] = in[i];
    double number = wcstod(text, &end);
    float single = wcstof(text, NULL);
    printf("%.17g %.9g %d\n", number, single, (int)(end - text));
    if (number == 2.5)
        puts("two and a half");
    if (number < -10)
        puts("below");
    if (single == 3e5f)
        puts("300000");
    return 0;
}
