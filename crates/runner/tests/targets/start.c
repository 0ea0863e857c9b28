// Things that happen before main. BEFORE_MAIN is a statement.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *tarragon_test_serve(void);

__attribute__((constructor)) static void before_main(void) { BEFORE_MAIN; }

int main(void) {
    tarragon_test_serve();
    return signal(SIGCHLD, SIG_DFL) == SIG_IGN ? 5 : 0;
}
