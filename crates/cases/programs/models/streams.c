// Characters, pieces and lines of a stream, one of them put back, and a place to which it returns.
//@ flags: -D_GNU_SOURCE
//@ max-len: 24
//@ max-runs: 2000
//@ arguments: @@
//@ uncovered: 18, 32
//@ gives-up: overwritten by uninstrumented code
//@ random: "ab;x\n"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char piece[4] = {0}, *line = NULL;
    size_t room = 0;
    FILE *file = fopen(argv[1], "r");
    if (argc != 2 || !file)
        return 9;
    int first = fgetc(file), second = getc_unlocked(file);
    if (second == EOF)
        return 1;
    if (second == '<')
        ungetc('>', file);
    size_t got = fread_unlocked(piece, 1, 3, file);
    ssize_t size = getdelim(&line, &room, ';', file);
    printf("%d %d %zu %s %zd\n", first, second, got, piece, size);
    if (piece[0] == '>' && got == 3)
        return 2;
    if (size > 0 && strcmp(line, "key;") == 0)
        return 3;
    if (size > 2 && fseeko(file, 1, SEEK_SET) == 0 && fgetc(file) == 'Z')
        return 4;
    free(line);
    fclose(file);
    return 0;
}
