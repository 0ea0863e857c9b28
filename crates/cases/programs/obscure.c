// obscure of the DART paper: the hash is opaque, so y keeps its value and x is solved for.
//@ native: native/hash.c
//@ expect-bug: SIGABRT
//@ seed: "01234567"
//@ gives-up: function without a model
#include <stdlib.h>
#include <unistd.h>

int hash(int y);

int main(void)
{
    int in[2];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    if (in[0] == hash(in[1]))
        abort();
    return 0;
}
