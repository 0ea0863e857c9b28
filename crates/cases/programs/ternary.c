// Choices without branches.
//@ flags: -O2
#include <stdio.h>

int main(void)
{
    int c = getchar();
    if (c == EOF)
        return 1;
    int k = c > 'm' ? c * 2 : c + 1000;
    int m = k < 1100 ? k : 7;
    if (m == 1098)
        return 2;
    if (k == 2 * 'q')
        return 3;
    return 0;
}
