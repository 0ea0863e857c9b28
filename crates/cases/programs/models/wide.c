// Wide characters: strings, classes and case.
//@ max-len: 5
//@ gives-up: library call beyond its model
//@ random: "kKeEyY1 \n"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

int main(void)
{
    char in[8] = {0};
    wchar_t text[8] = {0}, copy[8], other[8];
    if (read(0, in, 5) != 5)
        return 1;
    mbstowcs(text, in, 8);
    wcscpy(copy, text);
    wmemcpy(other, copy, 8);
    for (int i = 0; i < 3; i++)
        copy[i] = towupper(copy[i]);
    if (wcsncmp(copy, L"KEY", 3) == 0)
        puts("key");
    wchar_t *at = wcschr(other, L'@');
    if (at && at == other + 3)
        puts("at");
    if (iswdigit(text[4]))
        puts("digit");
    if (wcslen(text) == 2)
        puts("two");
    if (wmemcmp(text, L"zz", 2) == 0)
        puts("zz");
    return 0;
}
