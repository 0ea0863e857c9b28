// fork: the child runs as it should and leaves the parent's trace alone.
//@ gives-up: forked child
//@ seed: "0"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    unsigned char in;
    if (read(0, &in, 1) != 1)
        return 1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(in > 100 ? 3 : 4);
    int status = 0;
    waitpid(child, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
    if (in == 'k')
        return 2;
    return 0;
}
