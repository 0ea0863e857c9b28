// A table of keywords, searched with strcmp.
//@ diverges: strcspn does not say that a 0 of the input ends the text
#include <stdio.h>
#include <string.h>

static const char *const keywords[] = {"break", "case", "if", "while"};

int main(void)
{
    char word[16] = {0};
    if (!fgets(word, sizeof word, stdin))
        return 1;
    word[strcspn(word, "\n")] = 0;
    for (int i = 0; i < 4; i++)
        if (strcmp(word, keywords[i]) == 0)
            return i + 2;
    return 0;
}
