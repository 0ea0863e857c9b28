// Character classes as macros and as functions.
//@ uncovered: 15, 16
#include <ctype.h>
#include <stdio.h>

int main(void)
{
    int a = getchar();
    if (a == EOF)
        return 1;
    if (isdigit(a))
        return 2;
    if (isalpha(a)) {
        if (isupper(a))
            return toupper(a) == 'Q' ? 3 : 4;
        return tolower(a) == 'q' ? 5 : 6;
    }
    if (isspace(a))
        return 7;
    if (ispunct(a))
        return (isxdigit)(a) ? 8 : 9;
    return 0;
}
