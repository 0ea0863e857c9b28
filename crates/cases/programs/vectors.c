// Vectors of the GCC extension: followed element by element.
//@ seed: "020006789abcdef"
#include <stdio.h>
#include <unistd.h>

typedef unsigned char bytes16 __attribute__((vector_size(16)));

int main(void)
{
    bytes16 v;
    if (read(0, &v, 16) != 16)
        return 1;
    bytes16 w = v * 3 + 1;
    unsigned sum = 0;
    for (int i = 0; i < 16; i++)
        sum += w[i];
    printf("%u\n", sum);
    if (sum == 2000)
        return 2;
    return 0;
}
