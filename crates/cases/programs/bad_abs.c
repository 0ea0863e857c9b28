// bad_abs of the paper on execution generated testing: three paths, one of them wrong. Inputs that are
// empty or too short are two more.
//@ flags: -fwrapv
//@ exhaustive: max-len=4 paths=5 complete
//@ seed: "\x00\x00\x00\x00"
#include <unistd.h>

static int bad_abs(int x)
{
    if (x < 0)
        return -x;
    if (x == 1234)
        return -x;
    return x;
}

int main(void)
{
    int x;
    if (read(0, &x, 4) != 4)
        return 1;
    return bad_abs(x) < 0;
}
