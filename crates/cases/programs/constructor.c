// Input that is read before `main` begins, which no run sees.
//@ exhaustive: max-len=1 paths=1 incomplete
//@ uncovered: 13, 19
//@ seed: ""
//@ gives-up: input read by code that is not followed
#include <unistd.h>

static int first;

__attribute__((constructor)) static void prepare(void)
{
    char byte;
    if (read(0, &byte, 1) == 1)
        first = byte;
}

int main(void)
{
    if (first == 'x')
        return 10;
    return 11;
}
