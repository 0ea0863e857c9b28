// A switch that the optimiser turns into a table of results, and one into a table of pointers.
//@ flags: -O2
//@ max-runs: 300
#include <stdio.h>

static int days(int month)
{
    switch (month) {
    case 0: return 31;
    case 1: return 28;
    case 2: return 31;
    case 3: return 30;
    case 4: return 31;
    case 5: return 30;
    case 6: return 31;
    case 7: return 31;
    case 8: return 30;
    default: return -1;
    }
}

static const char *name(int c)
{
    switch (c) {
    case '0': return "zero";
    case '1': return "one";
    case '2': return "two";
    case '3': return "three";
    case '4': return "four";
    case '5': return "five";
    default: return "?";
    }
}

int main(void)
{
    int a = getchar(), b = getchar(), c = getchar();
    if (c == EOF)
        return 1;
    if (days(a - 'a') + days(b - 'a') == 58)
        return 2;
    if (days(a) == 28)
        return 3;
    if (name(c)[1] == 'h')
        return 4;
    return 0;
}
