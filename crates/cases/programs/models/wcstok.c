// Wide strings cut into tokens.
//@ max-len: 8
//@ max-runs: 600
//@ random: "id7=;"
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>

int main(void)
{
    unsigned char in[8];
    wchar_t text[9] = {0}, *rest;
    int count = 0;
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    for (int i = 0; i < 8; i++)
        text[i] = in[i];
    for (wchar_t *token = wcstok(text, L"=;", &rest); token; token = wcstok(NULL, L"=;", &rest)) {
        printf("%d %ls\n", (int)(token - text), token[0] < 128 ? token : L"?");
        if (++count == 2 && wcscmp(token, L"id7") == 0)
            puts("found");
    }
    return 0;
}
