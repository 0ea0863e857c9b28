// Formatted input straight from the stream.
//@ max-len: 16
//@ max-runs: 2000
//@ random: "0123456789ab \n-"
#include <stdio.h>
#include <string.h>

int main(void)
{
    int a, b;
    char word[8];
    if (scanf("%d %d", &a, &b) != 2)
        return 1;
    printf("%d %d\n", a, b);
    if (a == 17 && b == -3)
        puts("numbers");
    if (fscanf(stdin, "%7s", word) == 1 && !strcmp(word, "end"))
        puts("word");
    int next = getchar();
    if (next == '.')
        puts("stop");
    return 0;
}
