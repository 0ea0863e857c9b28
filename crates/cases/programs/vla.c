// Stack arrays whose size is in the input.
#include <alloca.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    int n = getchar(), c = getchar();
    if (n < 1 || n > 20 || c == EOF)
        return 1;
    char array[n];
    char *more = alloca(16);
    memset(array, c, sizeof array);
    memset(more, 0, 16);
    more[3] = array[n / 2];
    if (more[3] == 'k')
        return 2;
    if (n == 13)
        return 3;
    return 0;
}
