// fork: a child that waits for its parent in a busy way does not stand in its way for ever.
//@ gives-up: forked child
//@ seed: "0"
//@ max-runs: 12
//@ uncovered: 15
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    unsigned char in;
    volatile unsigned char *go =
        mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (read(0, &in, 1) != 1 || go == MAP_FAILED)
        return 1;
    if (fork() == 0) {
        while (!go[0])
            usleep(1000);
        _exit(0);
    }
    go[0] = 1;
    wait(0);
    if (in == 'k')
        return 2;
    return 0;
}
