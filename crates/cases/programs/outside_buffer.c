// A stream's buffer may belong to the program.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "a"
//@ gives-up: data that went through a file or a pipe
//@ lost-through: putc
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    static char buffer[64];
    char byte;
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (read(0, &byte, 1) != 1)
        return 1;
    putchar(byte);
    return buffer[0] == 'x';
}
