// The same with a hash that is followed but cannot be inverted: x is solved for all the same.
//@ expect-bug: SIGABRT
//@ seed: "01234567"
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static int hash(int y)
{
    unsigned h = (unsigned)y;
    for (int i = 0; i < 8; i++) {
        h ^= h << 13;
        h *= 2654435761u;
        h ^= h >> 17;
    }
    return (int)h;
}

int main(void)
{
    int in[2];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    if (in[0] == hash(in[1]))
        abort();
    return 0;
}
