// An object that clang alone compiled maps the input, and reads it without moving its descriptor.
//@ native: native/map.c
//@ exhaustive: max-len=6 paths=1 incomplete
//@ seed: "ab"
//@ gives-up: input read by code that is not followed
//@ lost-through: first_mapped
//@ lost-through: first_read
int first_mapped(int fd);
int first_read(int fd);

int main(void)
{
    if (first_mapped(0) == 'm' || first_read(0) == 'm')
        __builtin_trap();
    return 0;
}
