// The standard output can lead back into the program: into a pipe, and into a file.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "a"
//@ gives-up: data that went through a file or a pipe
//@ lost-through: putc
//@ lost-through: printf
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    char byte, back = 0;
    int ends[2];
    FILE *file;
    if (pipe(ends) || dup2(ends[1], 1) != 1 || read(0, &byte, 1) != 1)
        return 1;
    putchar(byte);
    fflush(stdout);
    if (read(ends[0], &back, 1) != 1 || !freopen("printed", "w", stdout))
        return 2;
    printf("%c", byte);
    fflush(stdout);
    file = fopen("printed", "r");
    return back == 'x' || (file && getc(file) == 'y');
}
