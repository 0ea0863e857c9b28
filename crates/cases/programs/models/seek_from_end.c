// Whether there is such a place before the end hangs on the input's length.
//@ exhaustive: max-len=4 paths=3 complete
//@ seed: ""
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    if (lseek(0, -2, SEEK_END) < 0)
        return 10;
    if (fseek(stdin, -3, SEEK_END) < 0)
        return 11;
    return 12;
}
