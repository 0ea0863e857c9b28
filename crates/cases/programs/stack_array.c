// Reads and writes of a stack array at a symbolic index.
//@ seed: "012"
//@ uncovered: 15
#include <unistd.h>

int main(void)
{
    unsigned char in[3];
    short array[10] = {5, 3, 8, 1};
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    if (in[0] >= 10 || in[1] >= 10)
        return 2;
    array[in[0]] = 1000;
    if (array[in[1]] == 1000 && in[0] != in[1])
        return 9;
    if (array[in[1]] == 8)
        return 3;
    if (array[7] == 1000)
        return 4;
    return 0;
}
