// Takes many inputs in one process, and keeps none of them.
#include <stdio.h>
#include <unistd.h>

#ifndef __AFL_LOOP
static int rounds;
#define __AFL_LOOP(count) (rounds++ == 0)
#endif

static int check(const char *text, int size)
{
    return size == 2 && text[0] == 'a' && text[1] == 'b';
}

int main(void)
{
    char text[8];
    while (__AFL_LOOP(100)) {
        int size = read(0, text, sizeof text);
        puts(check(text, size) ? "yes" : "no");
    }
    return 0;
}
