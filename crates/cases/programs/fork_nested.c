// fork: children of children are followed, and give their exit codes to whoever waits.
//@ seed: "0000"
//@ uncovered: 32, 45
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned char in[4];
static volatile sig_atomic_t ended;

static void note(int signal)
{
    (void)signal;
    int status;
    while (waitpid(-1, &status, WNOHANG) > 0)
        ended += WEXITSTATUS(status);
}

int main(void)
{
    int status = 0;
    if (read(0, in, 4) != 4)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            if ((in[1] ^ in[2]) == 0x55)
                _exit(6);
            _exit(5);
        }
        if (wait(&status) < 0)
            _exit(1);
        if (in[0] * 3 == 'a' * 3)
            _exit(WEXITSTATUS(status));
        _exit(2);
    }
    waitpid(child, &status, 0);
    signal(SIGCHLD, note);
    if (fork() == 0) {
        if (in[3] == 'x')
            _exit(40);
        _exit(30);
    }
    while (!ended)
        usleep(100);
    printf("%d %d\n", WEXITSTATUS(status), (int)ended);
    return ended;
}
