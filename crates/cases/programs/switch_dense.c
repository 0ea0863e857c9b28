// A dense switch; each case is reached.
#include <stdio.h>

int main(void)
{
    switch (getchar()) {
    case 'a': return 2;
    case 'b': return 3;
    case 'c': return 4;
    case 'd': return 5;
    case 'e':
    case 'f': return 6;
    case EOF: return 7;
    default: return 0;
    }
}
