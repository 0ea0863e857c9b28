// Integers in wide text: signs, prefixes and the place where they end.
//@ max-len: 10
//@ max-runs: 1000
//@ random: "0123456789abcdefxX+- \n"
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>

int main(void)
{
    unsigned char in[10];
    wchar_t text[11] = {0}, *end, *plain_end;
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    for (int i = 0; i < 10; i++)
        text[i] = in[i];
    long any = wcstol(text, &end, 0);
    unsigned long plain = wcstoul(text + 2, &plain_end, 10);
    printf("%ld %d %lu %d %lld %llu\n", any, (int)(end - text), plain, (int)(plain_end - text),
        wcstoll(text, NULL, 16), wcstoull(text, NULL, 36));
    if (end == text)
        return 2;
    if (any == 0x1234)
        puts("1234");
    if (any == -77)
        puts("negative");
    if (*end == L';' && plain == 56)
        puts("semicolon");
    return 0;
}
