// Where a descriptor stands after output hangs on how much that was.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "a"
//@ gives-up: data that went through a file or a pipe
//@ lost-through: dprintf
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    char name[] = "/tmp/placeXXXXXX";
    unsigned char byte;
    if (read(0, &byte, 1) != 1)
        return 1;
    int file = mkstemp(name);
    unlink(name);
    dprintf(file, "%d", byte);
    return lseek(file, 0, SEEK_CUR) == 3 ? 2 : 0;
}
