// A line of another file takes as much of the buffer as it has.
//@ exhaustive: max-len=1 paths=3 complete
//@ seed: "a"
//@ expect-bug: SIGILL
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char buffer[64] = "";
    FILE *file = tmpfile();
    if (!file || read(0, buffer + 10, 1) != 1)
        return 1;
    fputs("a\nb", file);
    rewind(file);
    fgets(buffer, sizeof buffer, file);
    fgets(buffer, sizeof buffer, file);
    if (strcmp(buffer, "b") == 0 && buffer[10] == 'x')
        __builtin_trap();
    return 0;
}
