// Text taken apart along a format.
//@ max-len: 20
//@ max-runs: 4000
//@ random: "0123456789abcdefxyz:,[] \n-"
#include <stdio.h>
#include <string.h>

int main(void)
{
    char text[24], word[8], set[8], mark;
    int number = 0, done = 0;
    unsigned hex = 0;
    if (!fgets(text, sizeof text, stdin))
        return 1;
    int found = sscanf(text, "%4[a-z]:%d,%x %c%n", set, &number, &hex, &mark, &done);
    printf("%d %d %x %d\n", found, number, hex, done);
    switch (found) {
    case -1:
        puts("nothing");
        break;
    case 1:
        puts(set);
        break;
    case 2:
        if (number == -42)
            puts("number");
        break;
    case 3:
        if (hex == 0xbee)
            puts("hex");
        break;
    case 4:
        if (mark == '!')
            puts("mark");
        break;
    default:
        if (sscanf(text, "%5s", word) == 1 && !strcmp(word, "12345"))
            puts("word");
    }
    return 0;
}
