// A file read as a whole after its length was found by seeking.
//@ max-len: 12
//@ max-runs: 1000
//@ arguments: @@
//@ random: "abcdefgh"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "rb");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    if (size < 3)
        return 1;
    char *text = malloc(size + 1);
    fread(text, 1, size, file);
    text[size] = 0;
    if (size == 7)
        puts("seven");
    if (text[2] == 'x')
        puts("x");
    fseek(file, 1, SEEK_SET);
    if (getc(file) == '#')
        puts("second");
    return 0;
}
