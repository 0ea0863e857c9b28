// Characters beyond the tables, and conversions that only count.
//@ exhaustive: max-len=2 paths=15 incomplete
//@ gives-up: library call beyond its model
//@ random: "abcdef\0\x80"
#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

int main(void)
{
    unsigned char in[2] = {0};
    if (read(0, in, 2) != 2)
        return 1;
    char text[2] = {in[1]};
    wchar_t wide[2] = {in[1]};
    mbstate_t state = {0};
    switch (in[0]) {
    case 'a':
        puts(toupper(in[1] * 100) == 12000 ? "x" : "other");
        break;
    case 'b':
        puts(mbstowcs(0, text, 0) == 0 ? "empty" : "other");
        break;
    case 'c':
        puts(mbrtowc(0, text, 1, &state) == 0 ? "empty" : "other");
        break;
    case 'd':
        puts(mbrtowc(wide, text, 1, &state) == (size_t)-1 ? "none" : "one");
        break;
    case 'e':
        setlocale(LC_ALL, "C.UTF-8");
        puts(wcscasecmp(wide, L"\xe0") == 0 ? "same" : "other");
        break;
    }
    return 0;
}
