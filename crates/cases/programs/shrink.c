// Input must shrink.
//@ seed: "a long seed that is not wanted"
#include <unistd.h>

int main(void)
{
    char in[64];
    long n = read(0, in, sizeof in);
    if (n == 3)
        return in[2] == 'k' ? 2 : 3;
    return 0;
}
