/* Where the implementations of printf write: memory, as snprintf does. */
#ifndef OUT_H
#define OUT_H

#include <stdarg.h>
#include <stddef.h>

struct out {
    char *text;
    size_t room, used;
};

static inline void put(struct out *out, char c)
{
    if (out->used < out->room)
        out->text[out->used] = c;
    out->used++;
}

/* One of the implementations; which one is chosen when a program is built. */
void subject(struct out *out, const char *format, va_list arguments);

#endif
