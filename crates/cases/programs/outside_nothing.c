// Labelled data that only leaves, and library functions that take none: nothing is lost.
//@ exhaustive: max-len=4 paths=4 complete
//@ seed: "ab"
//@ arguments: @@
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char bytes[2] = "";
    time_t now = time(NULL);
    FILE *copy = fopen("copy", "w");
    int fd;
    if (getopt(argc, argv, "x") != -1 || access(argv[1], R_OK) || !copy || now == 0)
        return 1;
    fd = open(argv[1], O_RDONLY);
    if (read(fd, bytes, 2) != 2)
        return 2;
    close(fd);
    fwrite(bytes, 1, 2, copy);
    fprintf(copy, "%c%c\n", bytes[0], bytes[1]);
    fclose(copy);
    printf("%c\n", bytes[0]);
    write(1, bytes, 2);
    return bytes[0] == 'm' && bytes[1] == 'a' ? 3 : 0;
}
