// Input that is mapped instead of read; an empty file has no page.
//@ expect-bug: SIGBUS
//@ uncovered: 13
//@ arguments: @@
//@ seed: "0123"
#include <fcntl.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    int fd = open(argv[1], O_RDONLY);
    const char *text = mmap(0, 4, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED)
        return 1;
    if (text[1] == 'k')
        return 2;
    return 0;
}
