// fork: memory that parent and child share has no labels on the other side.
//@ gives-up: forked child
//@ seed: "0"
//@ uncovered: 14
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    unsigned char in;
    unsigned char *shared =
        mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (read(0, &in, 1) != 1 || shared == MAP_FAILED)
        return 1;
    if (fork() == 0) {
        shared[0] = in;
        _exit(0);
    }
    wait(0);
    if (shared[0] == 'k')
        return 2;
    return 0;
}
