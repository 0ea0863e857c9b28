// Bytes that a short read left as they were, where longer inputs have data.
//@ known-gap: bytes after a short read have no label, so that nothing asks for longer inputs
//@ exhaustive: max-len=2 paths=6 complete
//@ seed: ""
#include <unistd.h>

int main(void)
{
    char text[8] = {0};
    read(0, text, 7);
    if (text[0] == 'a') {
        if (text[1] == 'b')
            return 11;
        return 12;
    }
    return 13;
}
