// Reads and writes of a heap array at a symbolic index.
//@ seed: "012"
//@ uncovered: 13
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    unsigned char in[3];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    int *array = malloc(20 * sizeof *array);
    if (!array)
        return 9;
    for (int i = 0; i < 20; i++)
        array[i] = i * i;
    if (in[0] >= 20 || in[1] >= 20)
        return 2;
    if (array[in[0]] == 324)
        return 3;
    array[in[1]] = in[2];
    if (array[4] == 'k')
        return 4;
    free(array);
    return 0;
}
