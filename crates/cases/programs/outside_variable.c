// An object without bitcode uses a variable of the program.
//@ native: native/keeper.c
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "a"
//@ gives-up: function without a model
//@ lost-through: sees_variable
#include <unistd.h>

unsigned char shared[4];
int sees_variable(void);

int main(void)
{
    if (read(0, shared, 1) != 1)
        return 1;
    return sees_variable() ? 2 : 0;
}
