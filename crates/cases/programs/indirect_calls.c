// Calls through a table of functions at a symbolic index.
#include <stdio.h>

static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
static int negate(int x) { return -x; }

static int (*const operations[])(int) = {twice, square, negate};

int main(void)
{
    int c = getchar(), x = getchar();
    if (c < '0' || c > '2' || x == EOF)
        return 1;
    int y = operations[c - '0'](x);
    if (y == 36)
        return 2;
    if (y == 81)
        return 3;
    if (y == -5)
        return 4;
    return 0;
}
