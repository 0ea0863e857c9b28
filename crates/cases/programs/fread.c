// fread of a record; the record must be complete.
#include <stdio.h>

struct record {
    unsigned short kind;
    unsigned short length;
    unsigned char body[4];
};

int main(void)
{
    struct record r;
    if (fread(&r, sizeof r, 1, stdin) != 1)
        return 1;
    if (r.kind == 0x4242 && r.length == 4)
        return r.body[0] + r.body[3] == 300 ? 2 : 3;
    return 0;
}
