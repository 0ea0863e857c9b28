// setjmp and longjmp with a symbolic value; labels must not outlive the frames that were left.
//@ gives-up: function without a model
//@ seed: "a"
//@ seed: "c"
#include <setjmp.h>
#include <stdio.h>

static jmp_buf env;

__attribute__((noinline)) static int deep(int n, int c)
{
    volatile char frame[64];
    frame[n] = (char)c;
    if (n == 0)
        longjmp(env, c - 'a' + 1);
    return deep(n - 1, c) + frame[n];
}

int main(void)
{
    int c = getchar();
    if (c < 'a')
        return 1;
    int code = setjmp(env);
    if (code == 0)
        deep(5, c);
    if (code == 3)
        return 2;
    if (c == 'q')
        return 3;
    return 0;
}
