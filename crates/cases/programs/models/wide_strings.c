// Wide strings and wide memory.
//@ flags: -D_GNU_SOURCE -fno-builtin
//@ max-len: 5
//@ max-runs: 800
//@ gives-up: library call beyond its model
//@ diverges: where wmemchr finds is a branch
//@ random: "abAB\0z"
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

int main(void)
{
    unsigned char in[5];
    wchar_t text[16] = {0}, copy[16];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    for (int i = 0; i < 5; i++)
        text[i] = in[i] & 0x7f;
    wmemset(copy, text[0], 16);
    wmemmove(copy + 1, text, 5);
    wcsncpy(copy + 6, text, 4);
    copy[10] = 0;
    wcscat(copy, L"!");
    printf("%d %d %d %zu\n", (int)copy[0], (int)copy[3], (int)copy[7], wcsnlen(text, 4));
    if (wmemchr(text, L'q', 5))
        puts("q");
    if (wcsrchr(text, L'w'))
        puts("w");
    if (iswalpha((wint_t)text[1]))
        puts("letter");
    if (towlower((wint_t)text[2]) == L'k')
        puts("k");
    if (wcsnlen(text, 4) == 2)
        puts("two");
    if (btowc(in[4]) == L'e')
        puts("e");
    return 0;
}
