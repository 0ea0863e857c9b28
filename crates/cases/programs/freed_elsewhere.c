// Memory of the program that code without bitcode gives back, to the kernel and to later objects.
//@ native: native/keeper.c
//@ exhaustive: max-len=1 paths=3 complete
//@ seed: "a"
//@ expect-bug: SIGILL
//@ flags: -O0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned char shared[4];
void releases(void *memory);
void *allocates(unsigned long size);

__attribute__((noinline)) static int get(unsigned char *bytes, int at) { return bytes[at]; }

int main(void)
{
    unsigned char byte, *mapped, *first, *second, *over;
    int sum;
    if (read(0, &byte, 1) != 1)
        return 1;
    mapped = calloc(1, 1000000);
    sum = get(mapped, byte & 31);
    releases(mapped);
    sum += get(calloc(1, 64), byte & 31);
    first = malloc(2000);
    second = malloc(2000);
    malloc(2000);
    releases(first);
    releases(second);
    over = allocates(4000);
    memset(over, 'a', 4000);
    sum += get(over + 2490, byte & 15);
    if (sum == 'a' && byte == 'x')
        __builtin_trap();
    return 0;
}
