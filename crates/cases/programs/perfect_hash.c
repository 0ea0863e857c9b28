// Keywords found by a perfect hash, as gperf makes it: associated values of two characters and the length lead to one word.
//@ max-len: 12
//@ max-runs: 300
//@ diverges: a check of the pointer's bounds leads to other words
#include <stdio.h>
#include <string.h>

static unsigned hash(const char *text, unsigned size)
{
    static const unsigned char values[] = {
        ['b'] = 5, ['c'] = 0, ['d'] = 10, ['e'] = 0, ['i'] = 15, ['k'] = 20,
        ['r'] = 5, ['s'] = 10, ['t'] = 25, ['w'] = 5, ['z'] = 30};
    return size + values[(unsigned char)text[0] % sizeof values]
           + values[(unsigned char)text[size - 1] % sizeof values];
}

static const char *const words[64] = {
    [4] = "case", [9] = "char", [10] = "while", [11] = "return", [12] = "do",
    [14] = "size", [16] = "static", [30] = "break", [41] = "struct"};

static const char *find(const char *text, unsigned size)
{
    if (size < 2 || size > 6)
        return NULL;
    unsigned key = hash(text, size);
    if (key >= 64 || !words[key])
        return NULL;
    const char *word = words[key];
    return *text == *word && strcmp(text + 1, word + 1) == 0 ? word : NULL;
}

int main(void)
{
    char text[16];
    unsigned size = 0;
    int c;
    while ((c = getchar()) != EOF && c != '\n' && size < sizeof text - 1)
        text[size++] = (char)c;
    text[size] = 0;
    const char *word = find(text, size);
    if (!word)
        return 1;
    if (word == words[30])
        return 2;
    if (word == words[11])
        return 3;
    if (word == words[12])
        return 4;
    return 0;
}
