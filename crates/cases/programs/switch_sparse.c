// Sparse, wide and negative cases.
//@ seed: "01234567"
#include <string.h>
#include <unistd.h>

static int wide(long x)
{
    switch (x) {
    case 0x123456789abcdef0: return 2;
    case -1: return 3;
    case -0x7000000000000000: return 4;
    case 0: return 5;
    }
    return 0;
}

static int narrow(short x)
{
    switch (x) {
    case -30000: return 6;
    case -2: return 7;
    case 12345: return 8;
    }
    return 0;
}

static int only_default(int x)
{
    switch (x) {
    default: return x == 99;
    }
}

int main(void)
{
    long x;
    if (read(0, &x, 8) != 8)
        return 1;
    int found = wide(x);
    if (!found)
        found = narrow((short)(x >> 16));
    if (!found)
        found = only_default((int)x);
    return found;
}
