// Input must grow from one byte to twelve.
#include <stdio.h>

int main(void)
{
    int n = 0;
    while (getchar() != EOF)
        n++;
    if (n == 12)
        return 2;
    return 0;
}
