// The input read twice, in pieces of odd sizes and from other places.
//@ gives-up: overwritten by uninstrumented code
//@ arguments: @@
//@ uncovered: 17, 19, 25
//@ seed: "0123456789"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int fd = open(argv[1], O_RDONLY);
    unsigned char a[3], b[4], c[2];
    if (read(fd, a, 3) != 3 || read(fd, b, 4) != 4)
        return 1;
    if (lseek(fd, 1, SEEK_SET) != 1 || read(fd, c, 2) != 2)
        return 8;
    if (c[0] != a[1])
        return 9;
    if (b[1] == 'x' && c[1] == 'y')
        return 2;
    FILE *file = fopen(argv[1], "r");
    fseek(file, 5, SEEK_SET);
    if (fgetc(file) != b[2])
        return 7;
    rewind(file);
    if (fgetc(file) == 'q')
        return 3;
    return 0;
}
