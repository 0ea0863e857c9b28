// A length in the input says how much more must follow.
#include <stdio.h>

int main(void)
{
    int n = getchar();
    if (n < 3 || n > 20)
        return 1;
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        int c = getchar();
        if (c == EOF)
            return 2;
        sum += (unsigned)c;
    }
    if (n == 9 && sum == 900)
        return 3;
    return 0;
}
