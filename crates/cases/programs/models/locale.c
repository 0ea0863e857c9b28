// Models ask for the tables of the locale that the program has set.
//@ max-len: 6
//@ random: "aAzZ\xe4\xc4\n"
#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

int main(void)
{
    char text[8];
    setlocale(LC_ALL, "C.UTF-8");
    if (!fgets(text, sizeof text, stdin))
        return 1;
    if (isupper((unsigned char)text[0]))
        puts("upper");
    if (strcasecmp(text, "ab\n") == 0)
        puts("ab");
    if (strcoll(text, "q") > 0)
        puts("behind q");
    return 0;
}
