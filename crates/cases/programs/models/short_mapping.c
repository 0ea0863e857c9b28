// The rest of a page after the input's end, where longer inputs have data.
//@ known-gap: bytes after a short read have no label, so that nothing asks for longer inputs
//@ exhaustive: max-len=2 paths=6 complete
//@ uncovered: 12
//@ seed: "x"
#include <sys/mman.h>
#include <sys/stat.h>

int main(void)
{
    struct stat status;
    char *text = mmap(0, 4096, PROT_READ, MAP_PRIVATE, 0, 0);
    if (text == MAP_FAILED)
        return 9;
    fstat(0, &status);
    if (status.st_size == 0)
        return 8;
    if (text[0] == 'a') {
        if (text[1] == 'b')
            return 11;
        return 12;
    }
    return 13;
}
