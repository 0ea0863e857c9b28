// What goes into a file or a pipe comes back without expressions.
//@ exhaustive: max-len=4 paths=3 incomplete
//@ seed: "ab"
//@ gives-up: data that went through a file or a pipe
//@ lost-through: fputs
//@ lost-through: write
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    char in[3] = "", out[3] = "";
    int ends[2];
    FILE *file = fopen("kept", "w+");
    if (!file || pipe(ends) || read(0, in, 2) != 2)
        return 1;
    fputs(in, file);
    rewind(file);
    if (fgets(out, sizeof out, file) && out[0] == 'm')
        __builtin_trap();
    if (write(ends[1], in, 2) != 2 || read(ends[0], out, 2) != 2)
        return 2;
    return out[1] == 'm';
}
