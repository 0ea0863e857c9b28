/* Reads a JSON text from standard input and parses it. */
#include "cJSON.h"
#include <stdio.h>

static char text[1 << 20];

int main(void)
{
    size_t size = fread(text, 1, sizeof text - 1, stdin);
    text[size] = 0;
    cJSON *value = cJSON_Parse(text);
    if (!value)
        return 1;
    printf("%d\n", cJSON_GetArraySize(value));
    cJSON_Delete(value);
    return 0;
}
