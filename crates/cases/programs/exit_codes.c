// Exit codes are no bugs, whichever way the program exits.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void last(void) { puts("atexit"); }

int main(void)
{
    atexit(last);
    switch (getchar()) {
    case 'a': exit(255);
    case 'b': fflush(stdout); _exit(7);
    case 'c': return 300;
    case 'd': quick_exit(3);
    }
    return 0;
}
