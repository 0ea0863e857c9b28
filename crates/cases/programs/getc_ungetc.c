// Reading characters and putting them back.
#include <stdio.h>

static int number(void)
{
    int value = 0, c;
    while ((c = getc(stdin)) >= '0' && c <= '9')
        value = value * 10 + (c - '0');
    if (c != EOF)
        ungetc(c, stdin);
    return value;
}

int main(void)
{
    int a = number();
    int c = fgetc(stdin);
    int b = number();
    if (c == '+' && a + b == 90)
        return 2;
    return 0;
}
