// Classes of characters and their case: every class is left and entered.
//@ flags: -fno-builtin -D__NO_CTYPE
//@ max-len: 4
//@ max-runs: 600
//@ random: "azAZ09 \x09\n_.\x7f\x80\xff"
#include <ctype.h>
#include <stdio.h>

#undef isalpha

int main(void)
{
    int c = getchar(), d = getchar();
    if (d == EOF)
        return 1;
    if (isalnum(c))
        puts("alnum");
    if (isalpha(c))
        puts("alpha");
    if (isblank(c))
        puts("blank");
    if (iscntrl(c))
        puts("cntrl");
    if (isdigit(c))
        puts("digit");
    if (isgraph(c))
        puts("graph");
    if (islower(c))
        puts("lower");
    if (isprint(c))
        puts("print");
    if (ispunct(c))
        puts("punct");
    if (isspace(c))
        puts("space");
    if (isupper(c))
        puts("upper");
    if (isxdigit(c))
        puts("xdigit");
    printf("%d %d\n", toupper(c), tolower(d));
    if (toupper(d) == 'Q')
        return 2;
    if (tolower(d) == 'k')
        return 3;
    return 0;
}
