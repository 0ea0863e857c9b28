// Pointers that depend on the input: compared, subtracted, followed.
#include <stdio.h>

static int numbers[16];

int main(void)
{
    int c = getchar();
    if (c == EOF)
        return 1;
    int *p = numbers + (c & 15);
    if (p == &numbers[11])
        return 2;
    if (p - numbers == 3)
        return 3;
    *p = 7;
    if (numbers[5] == 7)
        return 4;
    int **pp = &p;
    if (*pp > &numbers[13])
        return 5;
    return 0;
}
