// Labels move with the memory that realloc moves; fresh and freed memory has none.
//@ uncovered: 20
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    size_t size = 1, used = 0;
    char *text = malloc(size);
    int c;
    while ((c = getchar()) != EOF && c != '\n') {
        if (used == size)
            text = realloc(text, size *= 2);
        text[used++] = (char)c;
    }
    if (used == 5 && text[0] == 'a' && text[4] == 'z')
        return 2;
    free(text);
    char *again = calloc(8, 1);
    if (again[0])
        return 9;
    return 0;
}
