// How much was printed depends on the data, and has no expression.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "a"
//@ gives-up: function without a model
//@ lost-through: printf
//@ lost-through: puts
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    char text[2] = "";
    if (read(0, text, 1) != 1)
        return 1;
    if (printf("%d", text[0]) == 3)
        return 2;
    return puts(text) == 1;
}
