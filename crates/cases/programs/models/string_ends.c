// Strings that end where the input says: what is copied, printed, searched for and cut depends on
// how long they are on each input, also where no byte of the copy tells.
//@ flags: -D_GNU_SOURCE
//@ exhaustive: max-len=2 paths=25 complete
//@ random: "abcdefgh@A\0"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

static int result(int which, char *text, wchar_t *wide)
{
    char to[8] = "zzz", cut[8] = "xAy";
    wchar_t wide_to[8] = L"zzz";
    switch (which) {
    case 'a':
        return strcpy(to, text)[0] != 0;
    case 'b':
        return strdup(text)[0] != 0;
    case 'c':
        return strncpy(to, text, 3)[1] != 0;
    case 'd':
        return strlen(strcat(to, text)) == 4;
    case 'e':
        return sprintf(to, "%s", text) + 2 * (to[0] != 0);
    case 'f':
        return strstr("hello", text) != 0;
    case 'g':
        return strspn("Ahello", text) + 2 * (strpbrk("xA", text) != 0);
    case 'h':
        return strlen(strtok(cut, text)) == 1;
    case 'j':
        return wcsdup(wide)[0] != 0;
    case 'k':
        return wcscat(wide_to, wide)[3] != 0;
    case 'l':
        strcat(text, "x");
        return text[1] == 'x';
    default:
        return 9;
    }
}

int main(void)
{
    unsigned char in[2] = {0};
    if (read(0, in, 2) != 2)
        return 1;
    char text[4] = {in[1] & 0x40};
    wchar_t wide[4] = {in[1] & 0x40};
    switch (result(in[0], text, wide)) {
    case 0:
        puts("nothing");
        break;
    case 1:
        puts("one");
        break;
    case 2:
        puts("two");
        break;
    case 3:
        puts("three");
        break;
    }
    return 0;
}
