// Other ways for the input to come in, and its length.
//@ max-len: 12
//@ max-runs: 1000
//@ arguments: @@
//@ random: "abcdefgh"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int fd = open(argv[1], O_RDONLY);
    struct stat stat;
    fstat(fd, &stat);
    if (stat.st_size < 4)
        return 1;
    if (lseek(fd, 0, SEEK_END) == 9)
        puts("nine");
    lseek(fd, 0, SEEK_SET);
    char a[2], b[2], c;
    struct iovec pieces[2] = {{a, 2}, {b, 2}};
    readv(fd, pieces, 2);
    if (a[1] == 'v' && b[0] == 'e')
        puts("pieces");
    pread(fd, &c, 1, 3);
    if (c == 'p')
        puts("placed");
    char *map = mmap(NULL, stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map[2] == 'm')
        puts("mapped");
    munmap(map, stat.st_size);
    return 0;
}
