// Keywords are told by their hashes alone, which cannot be turned round; but the program itself hashes them at its start.
//@ native: native/text_hash.c
//@ gives-up: function without a model
//@ lost-through: text_hash
//@ seed: "four"
//@ max-len: 8
//@ max-runs: 60
#include <stdio.h>
#include <string.h>

unsigned text_hash(const char *text, unsigned size);

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
