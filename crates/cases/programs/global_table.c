// Reads from constant and from changing global tables at symbolic indices.
#include <stdio.h>

static const unsigned short squares[16] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225};
static int permutation[8] = {3, 1, 4, 7, 5, 0, 2, 6};

int main(void)
{
    int a = getchar(), b = getchar();
    if (a == EOF || b == EOF)
        return 1;
    if (squares[a & 15] == 169)
        return 2;
    if (permutation[permutation[b & 7]] == 6)
        return 3;
    permutation[2] = a;
    if (permutation[b & 7] == 'w')
        return 4;
    return 0;
}
