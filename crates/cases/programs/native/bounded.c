/* BSD's functions, for C libraries that lack them. */
#include <string.h>

size_t strlcpy(char *to, const char *from, size_t size)
{
    size_t len = strlen(from);
    if (size > 0) {
        size_t count = len < size ? len : size - 1;
        memcpy(to, from, count);
        to[count] = 0;
    }
    return len;
}

size_t strlcat(char *to, const char *from, size_t size)
{
    size_t used = strnlen(to, size);
    return used + strlcpy(to + used, from, size - used);
}
