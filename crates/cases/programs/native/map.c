#include <sys/mman.h>
#include <unistd.h>

int first_mapped(int fd)
{
    const unsigned char *text = mmap(0, 1, PROT_READ, MAP_PRIVATE, fd, 0);
    return text == MAP_FAILED ? -1 : text[0];
}

int first_read(int fd)
{
    unsigned char byte = 0;
    return pread(fd, &byte, 1, 0) == 1 ? byte : -1;
}
