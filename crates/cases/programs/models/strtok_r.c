// Two levels of tokens at once.
//@ max-len: 16
//@ random: "a1=;\n"
#include <stdio.h>
#include <string.h>

int main(void)
{
    char text[20], *outer, *inner;
    if (!fgets(text, sizeof text, stdin))
        return 1;
    for (char *pair = strtok_r(text, ";\n", &outer); pair; pair = strtok_r(NULL, ";\n", &outer)) {
        char *key = strtok_r(pair, "=", &inner), *value = strtok_r(NULL, "=", &inner);
        printf("%s %s\n", key ? key : "-", value ? value : "-");
        if (key && value && !strcmp(key, "id") && !strcmp(value, "7"))
            puts("found");
    }
    return 0;
}
