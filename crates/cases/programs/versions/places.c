// Says where its functions are when they run.
#include <stdio.h>

long place_after(const char *function);

__attribute__((noinline)) void direct(int c)
{
    printf("%ld ", place_after((const char *)direct) + (c == 'x'));
}

__attribute__((noinline)) void through_pointer(int c)
{
    printf("%ld\n", place_after((const char *)through_pointer) + (c == 'y'));
}

void (*volatile pointer)(int) = through_pointer;

int main(void)
{
    int c = getchar();
    direct(c);
    pointer(c);
    return 0;
}
