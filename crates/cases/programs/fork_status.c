// fork: what a child ends with goes to its parent, without a branch on the input.
//@ gives-up: function without a model
//@ seed: "0"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    unsigned char in;
    if (read(0, &in, 1) != 1)
        return 1;
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        return in;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 77 ? 2 : 0;
}
