// fork: data of the input that goes from a child to its parent is given up.
//@ gives-up: data that went through a file or a pipe
//@ seed: "0"
//@ uncovered: 12
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    unsigned char in, out = 0;
    int ends[2];
    if (read(0, &in, 1) != 1 || pipe(ends) != 0)
        return 1;
    if (fork() == 0) {
        write(ends[1], &in, 1);
        _exit(0);
    }
    read(ends[0], &out, 1);
    wait(0);
    if (out == 'k')
        return 2;
    return 0;
}
