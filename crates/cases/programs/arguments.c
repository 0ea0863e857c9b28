// The program's own arguments arrive.
//@ arguments: -v 17
//@ uncovered: 10
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int limit = argc == 3 && !strcmp(argv[1], "-v") ? atoi(argv[2]) : 0;
    printf("%d\n", limit);
    if (getchar() == limit)
        return 2;
    return 0;
}
