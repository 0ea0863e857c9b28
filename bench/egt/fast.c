/* A printf over the library's: it takes conversions apart, and has each one printed alone. */
#include "out.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 512 };

struct piece {
    char format[16];
    int used, width, precision;
};

static void add(struct piece *piece, char c)
{
    if (piece->used < (int)sizeof piece->format - 4)
        piece->format[piece->used++] = c;
}

static int read_number(const char **format, va_list *arguments)
{
    int value = 0;
    if (**format == '*') {
        (*format)++;
        return va_arg(*arguments, int);
    }
    for (; **format >= '0' && **format <= '9'; (*format)++)
        if (value < 1000000)
            value = value * 10 + (**format - '0');
    return value;
}

static const char *flags(const char *format, struct piece *piece)
{
    for (;; format++)
        switch (*format) {
        case '-': add(piece, '-'); break;
        case '+': add(piece, '+'); break;
        case ' ': add(piece, ' '); break;
        case '#': add(piece, '#'); break;
        case '0': add(piece, '0'); break;
        default: return format;
        }
}

static void emit(struct out *out, struct piece *piece, const char *end, int is_long,
                 va_list *arguments)
{
    char text[ROOM];
    int count, width = piece->width, precision = piece->precision;
    memcpy(piece->format + piece->used, end, strlen(end) + 1);
    if (strchr("eEfFgGaA", end[strlen(end) - 1]))
        count = snprintf(text, ROOM, piece->format, width, precision, va_arg(*arguments, double));
    else if (is_long || strchr("sp", end[strlen(end) - 1]))
        count = snprintf(text, ROOM, piece->format, width, precision, va_arg(*arguments, void *));
    else
        count = snprintf(text, ROOM, piece->format, width, precision, va_arg(*arguments, int));
    /* Mistake: what is longer than the room is cut. */
    for (int i = 0; i < count && i < ROOM - 1; i++)
        put(out, text[i]);
}

static const char *convert(struct out *out, const char *format, va_list *arguments)
{
    struct piece piece = {"%", 1, 0, -1};
    int is_long = 0;
    format = flags(format, &piece);
    piece.width = read_number(&format, arguments);
    if (*format == '.') {
        format++;
        piece.precision = read_number(&format, arguments);
    }
    add(&piece, '*');
    add(&piece, '.');
    add(&piece, '*');
    while (*format == 'l' || *format == 'h') {
        is_long |= *format == 'l';
        format++;
    }
    switch (*format++) {
    case 'd': case 'i': emit(out, &piece, is_long ? "ld" : "d", is_long, arguments); break;
    case 'u': emit(out, &piece, is_long ? "lu" : "u", is_long, arguments); break;
    case 'o': emit(out, &piece, is_long ? "lo" : "o", is_long, arguments); break;
    case 'x': emit(out, &piece, is_long ? "lx" : "x", is_long, arguments); break;
    case 'X': emit(out, &piece, is_long ? "lX" : "X", is_long, arguments); break;
    case 'c': emit(out, &piece, "c", 0, arguments); break;
    case 's': emit(out, &piece, "s", 0, arguments); break;
    case 'p': emit(out, &piece, "p", 0, arguments); break;
    case 'e': emit(out, &piece, "e", 0, arguments); break;
    case 'f': emit(out, &piece, "f", 0, arguments); break;
    case 'g': emit(out, &piece, "g", 0, arguments); break;
    case '%': put(out, '%'); break;
    default: exit(3);
    }
    return format;
}

void subject(struct out *out, const char *format, va_list arguments)
{
    va_list rest;
    va_copy(rest, arguments);
    while (*format)
        if (*format == '%')
            format = convert(out, format + 1, &rest);
        else
            put(out, *format++);
    va_end(rest);
}
