// A byte-code interpreter with computed goto.
//@ known-gap: only one side of a computed goto is tried
//@ flags: -O2
#include <stdio.h>

static int run(const char *code)
{
    static void *const targets[] = {&&add, &&twice, &&less, &&halt};
    int value = 0;
next:
    if (*code < '0' || *code > '3')
        return -1;
    goto *targets[*code++ - '0'];
add:
    value += 1;
    goto next;
twice:
    value *= 2;
    goto next;
less:
    value -= 3;
    goto next;
halt:
    return value;
}

int main(void)
{
    char code[9] = {0};
    if (!fgets(code, sizeof code, stdin))
        return 1;
    if (run(code) == 5)
        return 2;
    return 0;
}
