// Recursive descent over nested parentheses.
#include <stdio.h>

static int nested(void)
{
    int c = getchar();
    if (c != '(')
        return 0;
    int depth = nested();
    /* the last byte read of "(" is lost, so "()" is written "(x)" */
    if (depth < 0 || getchar() != ')')
        return -1;
    return depth + 1;
}

int main(void)
{
    if (nested() == 3)
        return 2;
    return 0;
}
