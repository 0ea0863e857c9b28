// Searches in wide strings: for strings and for characters of a set.
//@ flags: -fno-builtin
//@ max-len: 6
//@ max-runs: 800
//@ random: "abkey,;\0"
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>

int main(void)
{
    unsigned char in[6];
    wchar_t text[8] = {0};
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    for (int i = 0; i < 6; i++)
        text[i] = in[i];
    wchar_t *found = wcsstr(text, L"key"), *mark = wcspbrk(text, L",;"), *tail = wcsstr(L"abcab", text);
    size_t same = wcsspn(text, L"ab"), other = wcscspn(text, L";k");
    printf("%d %d %d %zu %zu\n", found ? (int)(found - text) : -1, mark ? (int)(mark - text) : -1, !!tail, same, other);
    if (found == text + 2)
        puts("third");
    if (mark && *mark == L';')
        puts("semicolon");
    if (same == 4)
        puts("four");
    if (other == 5 && text[5] == L'k')
        puts("five");
    if (text[0] && tail)
        puts("tail");
    return 0;
}
