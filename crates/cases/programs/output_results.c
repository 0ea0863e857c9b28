// Output functions return what they got: the byte, or how many there were.
//@ exhaustive: max-len=1 paths=6 complete
//@ seed: "a"
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    static char zeros[300];
    unsigned char byte;
    if (read(0, &byte, 1) != 1)
        return 1;
    if (putchar(byte) == 'x')
        return 2;
    if (fputc(byte, stderr) == 'y')
        return 3;
    if (write(1, zeros, byte) == 122)
        return 4;
    if (fwrite(zeros, 1, byte, stdout) == 123)
        return 5;
    return 0;
}
