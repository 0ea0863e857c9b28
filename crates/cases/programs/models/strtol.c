// Integers in text: signs, prefixes, overflow and the place where they end.
//@ max-len: 22
//@ max-runs: 1500
//@ random: "0123456789abcdefxX+- \n"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char text[32], *end;
    if (!fgets(text, sizeof text, stdin))
        return 1;
    errno = 0;
    long any = strtol(text, &end, 0);
    printf("%ld %d %d\n", any, (int)(end - text), errno);
    if (end == text)
        return 2;
    if (any == 0x1234)
        puts("1234");
    if (any == -77)
        puts("negative");
    if (errno == ERANGE)
        puts(any < 0 ? "far below" : "far above");
    if (*end == ';')
        puts("semicolon");
    return 0;
}
