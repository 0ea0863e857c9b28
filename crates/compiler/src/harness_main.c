/* The main function of variants of libFuzzer harnesses: one input, from the file that the last argument names or from
 * the standard input. */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { MOST = 1 << 20 };
static unsigned char buffer[MOST];

int main(int argc, char **argv)
{
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    int file = argc > 1 && argv[argc - 1][0] != '-' ? open(argv[argc - 1], O_RDONLY) : 0;
    if (file < 0) {
        perror(argv[argc - 1]);
        return 2;
    }
    ssize_t size = read(file, buffer, MOST);
    if (size < 0)
        return 2;
    /* A block of exactly this size, so that a checking build sees reads beyond it. */
    unsigned char *data = malloc(size ? size : 1);
    if (!data)
        return 2;
    memcpy(data, buffer, size);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}
