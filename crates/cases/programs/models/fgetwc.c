// Wide characters from the stream.
//@ max-len: 8
//@ gives-up: library call beyond its model
//@ random: "abAB1 \n"
#include <stdio.h>
#include <wchar.h>
#include <wctype.h>

int main(void)
{
    wint_t first = getwchar();
    if (first == WEOF)
        return 1;
    wint_t second = fgetwc(stdin);
    if (second == L'=')
        return 2;
    ungetwc(second, stdin);
    wchar_t line[8];
    if (fgetws(line, 8, stdin) && wcscmp(line, L"ok\n") == 0)
        return 3;
    return iswupper(first) ? 4 : 0;
}
