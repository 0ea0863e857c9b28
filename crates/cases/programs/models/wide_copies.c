// Wide strings have what strings of bytes have: copies that return their end, duplicates, searches
// that stop at the end, the order of the locale; a match in wide memory is one outcome.
//@ flags: -D_GNU_SOURCE -fno-builtin
//@ max-len: 5
//@ max-runs: 600
//@ diverges: where a copied string ends is no branch
//@ random: "abcxyz;\0"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

int main(void)
{
    unsigned char in[5];
    wchar_t text[6] = {0}, copy[8] = {0}, padded[8];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    for (int i = 0; i < 5; i++)
        text[i] = in[i];
    wchar_t *end = wcpcpy(copy, text), *stop = wcpncpy(padded, text, 4);
    wchar_t *own = wcsdup(text), *mark = wcschrnul(text, L';');
    wchar_t *found = wmemchr(text, L'm', 5);
    printf("%d %d %d %d\n", (int)(end - copy), (int)(stop - padded), (int)(mark - text), found ? (int)(found - text) : -1);
    if (copy[1] == L'p' && padded[2] == L'q' && own[3] == L'r')
        puts("all");
    if (mark == text + 3 && text[3])
        puts("mark");
    if (wcscoll(text, L"key") == 0)
        puts("key");
    if (found == text + 2)
        puts("third");
    free(own);
    return 0;
}
