// abort, assert and a failed check by a library.
//@ expect-bug: SIGABRT
#include <assert.h>
#include <stdio.h>

int main(void)
{
    int c = getchar();
    assert(c != '#');
    return 0;
}
