// An object that clang alone compiled reads the input, first from the kernel, then what the stream has in its buffer.
//@ native: native/lines.c
//@ exhaustive: max-len=6 paths=1 incomplete
//@ seed: "ab\ncd"
//@ gives-up: input read by code that is not followed
//@ lost-through: get_line
//@ lost-through: get_byte
#include <string.h>

int get_line(char *to, int size);
int get_byte(void);

int main(void)
{
    char line[64];
    if (get_line(line, sizeof line) && strcmp(line, "magic") == 0)
        __builtin_trap();
    return get_byte() == 'm';
}
