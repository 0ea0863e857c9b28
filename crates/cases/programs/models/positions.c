// Where a descriptor or a stream stands hangs on the input's length, where it came to the end or
// went to a place from there.
//@ flags: -D_GNU_SOURCE
//@ exhaustive: max-len=3 paths=26 complete
//@ random: "abcdefghi"
#include <stdio.h>
#include <unistd.h>

static long place(int which)
{
    char bytes[10];
    fpos_t position;
    switch (which) {
    case 'a':
        read(0, bytes, 10);
        return lseek(0, 0, SEEK_CUR);
    case 'b':
        lseek(0, 0, SEEK_END);
        return lseek(0, 0, SEEK_CUR);
    case 'c':
        return lseek(0, 0, SEEK_HOLE);
    case 'd':
        fread(bytes, 1, 10, stdin);
        return ftell(stdin);
    case 'e':
        fseek(stdin, 0, SEEK_END);
        fseek(stdin, 0, SEEK_CUR);
        return ftell(stdin);
    case 'f':
        fseek(stdin, -1, SEEK_END);
        getc(stdin);
        return ftell(stdin);
    case 'g':
        fseek(stdin, 0, SEEK_END);
        fgetpos(stdin, &position);
        return position.__pos;
    case 'h':
        // Another byte for each length.
        lseek(0, -1, SEEK_END);
        read(0, bytes, 1);
        return bytes[0] == 'x' ? 1 : 2;
    }
    return 0;
}

int main(void)
{
    char which;
    if (pread(0, &which, 1, 0) != 1)
        return 1;
    long found = place(which);
    if (found == 1)
        puts("one");
    else if (found == 2)
        puts("two");
    else
        puts("other");
    return 0;
}
