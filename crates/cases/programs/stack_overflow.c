// Recursion without end is a crash.
//@ expect-bug: SIGSEGV
//@ max-runs: 40
#include <stdio.h>

__attribute__((noinline)) static int down(volatile int *n)
{
    volatile char frame[4096];
    frame[0] = (char)*n;
    volatile int next = *n + 1;
    return down(&next) + frame[0];
}

int main(void)
{
    volatile int n = 0;
    if (getchar() == 'r')
        return down(&n);
    return 0;
}
