// Integers in text: bases, signs, prefixes, overflow and the place where they end.
//@ max-len: 26
//@ max-runs: 3000
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
    unsigned long hex = strtoul(text, NULL, 16), base36 = strtoull(text, NULL, 36);
    printf("%lu %lu\n", hex, base36);
    if (hex == 0xfeed)
        puts("feed");
    if (base36 == 36 * 35 + 34)
        puts("zy");
    return 0;
}
