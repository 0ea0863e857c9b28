// Other programs inherit the input.
//@ exhaustive: max-len=6 paths=1 incomplete
//@ seed: "ab"
//@ gives-up: another program started
//@ lost-through: system
//@ lost-through: popen
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    FILE *copy;
    char line[16];
    if (system("read line; test \"$line\" = magic") == 0)
        __builtin_trap();
    copy = popen("cat", "r");
    if (copy && fgets(line, sizeof line, copy) && line[0] == 'm')
        __builtin_trap();
    return copy ? pclose(copy) != 0 : 1;
}
