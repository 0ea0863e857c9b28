// Words in a long text, in an order, and words of a line that is cut into tokens.
//@ flags: -D_GNU_SOURCE
//@ max-len: 240
//@ max-runs: 300
//@ seed: "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty one two three four five six seven eight nine ten eleven twelve thirt\n"
//@ random: "tarragon TARRAGON,deliver1"
#include <stdio.h>
#include <string.h>

static int words(char *text)
{
    char *word = strtok(text, " ,\n");
    if (!word || strcmp(word, "deliver") != 0)
        return 1;
    word = strtok(NULL, " ,\n");
    if (word && strcspn(word, "0123456789") == 5)
        return 2;
    return 3;
}

int main(void)
{
    char text[256];
    if (!fgets(text, sizeof text, stdin))
        return 1;
    char *first = strstr(text, "tarragon");
    char *second = strcasestr(text, "marjoram");
    if (first && second && second < first) {
        puts("both");
        if (strrchr(text, ';') == text + 20)
            puts("and a semicolon");
    }
    return words(text);
}
