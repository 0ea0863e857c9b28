// A stream may print into memory of the program.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "a"
//@ gives-up: data that went through a file or a pipe
//@ lost-through: fputc
//@ lost-through: fprintf
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    char byte, *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file || read(0, &byte, 1) != 1)
        return 1;
    fputc(byte, file);
    fprintf(file, "%d", byte);
    fclose(file);
    return text[0] == 'x' || size == 3;
}
