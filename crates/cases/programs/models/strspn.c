// Lengths of parts made of, or free of, the characters of a set.
//@ max-len: 12
//@ random: "0159af.,;x\n"
#include <stdio.h>
#include <string.h>

int main(void)
{
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return 1;
    size_t digits = strspn(text, "0123456789"), plain = strcspn(text, ".,;");
    char *separator = strpbrk(text, ",;");
    printf("%zu %zu %d\n", digits, plain, separator ? *separator : -1);
    if (digits == 3)
        puts("three digits");
    if (plain == 5)
        puts("five plain");
    if (separator && *separator == ';')
        puts("semicolon");
    return 0;
}
