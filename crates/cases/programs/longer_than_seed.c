// The seed has three bytes; a tag far behind its end must be reached.
//@ seed: "abc"
//@ max-len: 64
//@ max-runs: 1000
#include <stdio.h>
#include <string.h>

int main(void)
{
    char in[64];
    size_t size = fread(in, 1, sizeof in, stdin);
    if (size < 3 || memcmp(in, "abc", 3) != 0)
        return 1;
    if (size < 40)
        return 2;
    if (memcmp(in + 36, "last", 4) == 0)
        return 3;
    return 0;
}
