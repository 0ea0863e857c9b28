// The same with a hash in the program: a function that reads, mixes and returns is taken for one.
//@ gives-up: result of a hash
//@ seed: "four"
//@ max-len: 8
//@ max-runs: 60
#include <stdio.h>
#include <string.h>

static unsigned text_hash(const char *text, unsigned size)
{
    unsigned h = 2166136261u;
    for (unsigned i = 0; i < size; i++) {
        h = (h ^ (unsigned char)text[i]) * 16777619u;
        h ^= h >> 13;
    }
    return h;
}

static const char *const keywords[] = {"case", "else", "then", "loop"};

int main(void)
{
    unsigned hashes[4];
    char word[9] = {0};
    for (int i = 0; i < 4; i++)
        hashes[i] = text_hash(keywords[i], 4);
    if (fread(word, 1, 8, stdin) != 4)
        return 1;
    unsigned hash = text_hash(word, 4);
    if (hash == hashes[0])
        return 2;
    if (hash == hashes[1])
        return 3;
    if (hash == hashes[2])
        return 4;
    if (hash == hashes[3])
        return 5;
    return 0;
}
