// A number with a fraction, read digit by digit.
//@ max-runs: 60
//@ max-len: 6
#include <ctype.h>
#include <stdio.h>

int main(void)
{
    double value = 0, scale = 1;
    int c;
    while ((c = getchar()) != EOF && isdigit(c))
        value = value * 10 + (c - '0');
    if (c == '.')
        while ((c = getchar()) != EOF && isdigit(c))
            value += (c - '0') * (scale /= 10);
    if (value == 12.5)
        return 2;
    return 0;
}
