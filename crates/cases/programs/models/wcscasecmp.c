// Wide strings compared without case, and joined up to a limit.
//@ flags: -D_GNU_SOURCE
//@ max-len: 6
//@ max-runs: 600
//@ random: "keyKEY\0z"
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>

int main(void)
{
    unsigned char in[6];
    wchar_t text[8] = {0}, joined[8] = L"k";
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    for (int i = 0; i < 6; i++)
        text[i] = in[i];
    wcsncat(joined, text, 3);
    int whole = wcscasecmp(text, L"kEy"), part = wcsncasecmp(text, L"KEx", 2);
    printf("%d %d %d %d\n", (whole > 0) - (whole < 0), (part > 0) - (part < 0), (int)joined[1], (int)wcslen(joined));
    if (whole == 0)
        puts(text[0] == L'K' ? "upper" : "other");
    if (part == 0 && text[2] == L'z')
        puts("part");
    if (joined[3] == L'q')
        puts("joined");
    return 0;
}
