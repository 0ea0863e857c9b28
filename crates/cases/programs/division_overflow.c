// INT_MIN / -1.
//@ expect-bug: SIGFPE
//@ seed: "01234567"
#include <unistd.h>

int main(void)
{
    int in[2];
    if (read(0, in, sizeof in) != sizeof in || in[1] == 0)
        return 1;
    return in[0] / in[1] == 3; // the flip to -1 needs INT_MIN as well
}
