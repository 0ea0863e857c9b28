/* The same as small.c, as a harness that takes one input after the other. */
#include <stddef.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const unsigned char *line, size_t size)
{
    if (size < 3)
        return 0;
    if (line[0] == '(' && line[1] != ')')
        puts("open");
    return line[2] == '+' ? 0 : -1;
}
