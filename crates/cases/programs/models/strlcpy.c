// Copies that know how much room there is. The C library may lack them, so clang's program brings its own.
//@ flags: -fno-builtin
//@ native: ../native/bounded.c
//@ max-len: 12
//@ max-runs: 600
//@ random: "abc\0"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

size_t strlcpy(char *to, const char *from, size_t size);
size_t strlcat(char *to, const char *from, size_t size);

int main(void)
{
    char text[16] = "", small[6], joined[10] = "x";
    if (read(0, text, 12) != 12)
        return 1;
    size_t wanted = strlcpy(small, text, sizeof small), total = strlcat(joined, text, sizeof joined);
    printf("%zu %s %zu %s\n", wanted, small, total, joined);
    if (wanted >= sizeof small)
        puts("cut");
    else if (wanted == 4)
        puts("four");
    if (small[2] == 'q' && joined[4] == 'r')
        puts("copied");
    if (total == 11)
        puts("eleven");
    return 0;
}
