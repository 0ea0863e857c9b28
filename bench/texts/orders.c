/* Reads a page of text and looks for words in it, as programs do that were written without a parser. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

static const char *const WORDS[] = {"tarragon", "marjoram", "rosemary", "coriander", "lavender", "chervil"};
static const char *const ORDERS[] = {"deliver", "return", "cancel", "refund"};

enum { MAX = 4096 };

static int find_words(const char *text)
{
    int found = 0;
    const char *last = NULL;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        const char *at = strstr(text, WORDS[i]);
        if (!at)
            continue;
        found++;
        if (last && at < last)
            puts("out of order");
        last = at;
    }
    if (strcasestr(text, "urgent"))
        found += 10;
    if (memmem(text, strlen(text), "\r\n\r\n", 4))
        found += 100;
    return found;
}

static int read_order(char *line)
{
    for (size_t i = 0; i < sizeof ORDERS / sizeof *ORDERS; i++)
        if (strncmp(line, ORDERS[i], strlen(ORDERS[i])) == 0)
            return (int)i + 1;
    size_t spaces = strspn(line, " \t"), word = strcspn(line, ",;.");
    if (spaces > 4)
        puts("indented");
    if (word > 20)
        puts("a long word");
    return strrchr(line, ';') ? 0 : -1;
}

int main(void)
{
    static char text[MAX + 1];
    size_t size = fread(text, 1, MAX, stdin);
    text[size] = 0;
    printf("%d\n", find_words(text));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        printf("%d\n", read_order(line));
    return 0;
}
