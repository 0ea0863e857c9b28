// Input in a file that an argument names.
//@ arguments: --input @@
//@ uncovered: 9, 12
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc != 3 || strcmp(argv[1], "--input"))
        return 9;
    FILE *file = fopen(argv[2], "r");
    if (!file)
        return 8;
    char magic[5] = {0};
    if (fread(magic, 1, 4, file) != 4)
        return 1;
    fclose(file);
    if (memcmp(magic, "TARR", 4) == 0)
        return 2;
    return 0;
}
