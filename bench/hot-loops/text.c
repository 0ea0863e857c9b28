/* Counts words and hashes them: bytes, ctype-like tests, a hash table. */
#include <stdio.h>
#include <string.h>
static char text[1 << 16];
static unsigned counts[4096];
int main(void) {
    const char *words = "the quick brown fox jumps over a lazy dog while 42 geese watch ";
    size_t len = strlen(words);
    for (size_t i = 0; i < sizeof text; i++) text[i] = words[i % len];
    unsigned long total = 0;
    for (int round = 0; round < 1500; round++) {
        unsigned hash = 0;
        for (size_t i = 0; i < sizeof text; i++) {
            char c = text[i];
            if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) hash = hash * 31 + (unsigned char)c;
            else if (hash) { counts[hash & 4095]++; hash = 0; total++; }
        }
    }
    printf("%lu %u\n", total, counts[17]);
    return 0;
}
