// Copies carry the expressions of the bytes along.
//@ flags: -D_GNU_SOURCE
//@ max-len: 6
//@ random: "abcdef\0"
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

int main(void)
{
    char text[8] = {0}, a[16], b[16], c[16];
    if (read(0, text, 6) < 6)
        return 1;
    strcpy(a, text);
    strcat(a, "x");
    char *end = stpcpy(b, text);
    strncpy(c, text, 8);
    strncat(c, text, 2);
    char *stop = memccpy(b, text, 'e', 6);
    char *d = strdup(text), *e = strndup(text, 3);
    bcopy(text, text + 1, 2);
    swab(c, c + 8, 6);
    char f[8] = "1234567";
    stpncpy(f, text, 3);
    bzero(f + 3, 2);
    printf("%s %d %s %d %s %s %s %.6s %s\n", a, (int)(end - b), c, stop ? (int)(stop - b) : -1, d, e, text, c + 8, f);
    if (a[1] == 'p' && d[0] == 'o' && e[2] == 'q' && c[8 + 2] == 'r')
        puts("all");
    if (stop == b + 4)
        puts("stopped");
    return 0;
}
