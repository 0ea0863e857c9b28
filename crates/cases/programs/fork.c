// fork: the child goes on with the run, then the parent does: the branches of both count.
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
    if (child == 0) {
        if (in == 'c')
            _exit(3);
        if (in * 3 + 2 == 92)
            _exit(5);
        _exit(4);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
    if (in * 3 + 2 == 'k' * 3 + 2)
        return 2;
    return 0;
}
