//@ random: "ab\0"
// A zero byte that the path has fixed ends a string, whatever the path knows of the bytes behind it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char text[8] = {0};
    if (fread(text, 1, 3, stdin) < 3 || !text[0] || text[1] || !text[2])
        return 1;
    char *copy = malloc(strlen(text) + 1);
    strcpy(copy, text);
    strcat(copy, "");
    int result = strlen(copy) == 1 ? 0 : 2;
    free(copy);
    return result;
}
