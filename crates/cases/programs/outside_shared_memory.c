// One file in two places of memory.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "a"
//@ gives-up: data that went through a file or a pipe
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
    int file = memfd_create("shared", 0);
    ftruncate(file, 4096);
    char *one = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    char *other = mmap(0, 4096, PROT_READ, MAP_SHARED, file, 0);
    if (one == MAP_FAILED || other == MAP_FAILED || read(0, one, 1) != 1)
        return 1;
    return *other == 'x';
}
