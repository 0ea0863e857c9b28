// A string in a string.
//@ flags: -D_GNU_SOURCE
//@ max-len: 14
//@ random: "keyKEY \n"
#include <stdio.h>
#include <string.h>

int main(void)
{
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return 1;
    char *exact = strstr(text, "key"), *folded = strcasestr(text, "eYk");
    if (exact) {
        printf("%d\n", (int)(exact - text));
        if (exact == text + 4)
            puts("fifth");
    }
    if (folded)
        puts("folded");
    return 0;
}
