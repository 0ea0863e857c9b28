/* The main function of variants of libFuzzer harnesses: inputs come from the file that the last
 * argument names or from the standard input, one after the other if the driver lets them share a
 * process. */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Of the runtime: runs begin here, and whether there is another input. */
void __tarragon_init(void);
int __tarragon_again(void);

/* Code of Tarragon's own, which is no part of the program's coverage. */
#define OWN __attribute__((section(".text.tarragon"), noinline))

OWN static int next(void)
{
    static int rounds;
    return rounds++ == 0 || __tarragon_again();
}

enum { MOST = 1 << 20 };
static unsigned char buffer[MOST];

static int test(const char *path)
{
    int file = path ? open(path, O_RDONLY) : 0;
    if (file < 0) {
        perror(path);
        return 2;
    }
    ssize_t size = read(file, buffer, MOST);
    if (path)
        close(file);
    /* A block of exactly this size, so that a checking build sees reads beyond it. */
    unsigned char *data = size < 0 ? NULL : malloc(size ? size : 1);
    if (!data)
        return 2;
    memcpy(data, buffer, size);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    __tarragon_init();
    const char *path = argc > 1 && argv[argc - 1][0] != '-' ? argv[argc - 1] : NULL;
    int result = 0;
    while (next())
        result = test(path);
    return result;
}
