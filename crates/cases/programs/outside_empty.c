// Reading an empty input moves nothing, so it counts that nobody else has read it.
//@ native: native/lines.c
//@ exhaustive: max-len=6 paths=1 incomplete
//@ seed: ""
//@ gives-up: input read by code that is not followed
//@ lost-through: get_byte
int get_byte(void);

int main(void)
{
    if (get_byte() == 'm')
        __builtin_trap();
    return 0;
}
