/* A printf for an operating system: everything but floating point. What it does not know ends the
 * program.
 *
 * The mistakes are of the kinds that the paper tells of: groups of thousands, blank and plus before
 * unsigned numbers, the width of strings, the modifiers t and z. */
#include "out.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MINUS = 1, PLUS = 2, BLANK = 4, SHARP = 8, ZERO = 16, GROUP = 32 };

struct conversion {
    int flags, width, precision;
    enum { CHAR, SHORT, INT, INTMAX, LONG, LONGLONG, PTRDIFF, SIZE } type;
};

static void unsupported(void)
{
    exit(3);
}

static void fill(struct out *out, char c, int count)
{
    for (; count > 0; count--)
        put(out, c);
}

static const char *number(const char *format, int *value)
{
    for (*value = 0; *format >= '0' && *format <= '9'; format++)
        *value = *value * 10 + (*format - '0');
    return format;
}

static const char *parse_flags(const char *format, struct conversion *c)
{
    for (;; format++)
        switch (*format) {
        case '-': c->flags |= MINUS; break;
        case '+': c->flags |= PLUS; break;
        case ' ': c->flags |= BLANK; break;
        case '#': c->flags |= SHARP; break;
        case '0': c->flags |= ZERO; break;
        case '\'': c->flags |= GROUP; break;
        default: return format;
        }
}

static const char *parse_size(const char *format, struct conversion *c, va_list *arguments)
{
    if (*format == '*') {
        format++;
        c->width = va_arg(*arguments, int);
    } else {
        format = number(format, &c->width);
    }
    if (c->width < 0) {
        c->width = -c->width;
        c->flags |= MINUS;
    }
    c->precision = -1;
    if (*format == '.') {
        format++;
        if (*format == '*') {
            format++;
            c->precision = va_arg(*arguments, int);
        } else {
            format = number(format, &c->precision);
        }
        if (c->precision < 0)
            c->precision = -1;
    }
    if (c->precision >= 0)
        c->flags &= ~ZERO;
    return format;
}

static const char *parse_type(const char *format, struct conversion *c)
{
    c->type = INT;
    switch (*format++) {
    case 'h':
        c->type = *format == 'h' ? (format++, CHAR) : SHORT;
        return format;
    case 'l':
        c->type = *format == 'l' ? (format++, LONGLONG) : LONG;
        return format;
    case 'j': c->type = INTMAX; return format;
    case 't': c->type = PTRDIFF; return format;
    case 'z': c->type = SIZE; return format;
    }
    return format - 1;
}

static intmax_t signed_argument(const struct conversion *c, va_list *arguments)
{
    switch (c->type) {
    case CHAR: return (signed char)va_arg(*arguments, int);
    case SHORT: return (short)va_arg(*arguments, int);
    case INT: return va_arg(*arguments, int);
    case INTMAX: return va_arg(*arguments, intmax_t);
    case LONG: return va_arg(*arguments, long);
    case LONGLONG: return va_arg(*arguments, long long);
    case PTRDIFF: return va_arg(*arguments, ptrdiff_t);
    default: return (intmax_t)va_arg(*arguments, size_t);
    }
}

static uintmax_t unsigned_argument(const struct conversion *c, va_list *arguments)
{
    switch (c->type) {
    case CHAR: return (unsigned char)va_arg(*arguments, unsigned);
    case SHORT: return (unsigned short)va_arg(*arguments, unsigned);
    case INT: return va_arg(*arguments, unsigned);
    case INTMAX: return va_arg(*arguments, uintmax_t);
    case LONG: return va_arg(*arguments, unsigned long);
    case LONGLONG: return va_arg(*arguments, unsigned long long);
    /* Mistake: the unsigned types of these have all their bits. */
    case PTRDIFF: return (uintmax_t)va_arg(*arguments, ptrdiff_t) & 0xffffff;
    default: return va_arg(*arguments, size_t) & 0xffffff;
    }
}

static void integer(struct out *out, const struct conversion *c, uintmax_t value, int negative,
                    int base, int upper)
{
    char digits[64];
    const char *all = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    int count = 0, grouped = 0;
    for (uintmax_t rest = value; rest > 0; rest /= (unsigned)base) {
        /* Mistake: the first group has four digits. */
        if ((c->flags & GROUP) && base == 10 && grouped == (count < 5 ? 4 : 3)) {
            digits[count++] = ',';
            grouped = 0;
        }
        digits[count++] = all[rest % (unsigned)base];
        grouped++;
    }
    int precision = c->precision < 0 ? 1 : c->precision;
    while (count < precision && count < (int)sizeof digits - 1)
        digits[count++] = '0';
    if ((c->flags & SHARP) && base == 8 && (count == 0 || digits[count - 1] != '0'))
        digits[count++] = '0';
    /* Mistake: plus and blank are for signed conversions only. */
    char sign = negative ? '-' : (c->flags & PLUS) ? '+' : (c->flags & BLANK) ? ' ' : 0;
    int prefix = (c->flags & SHARP) && base == 16 && value != 0;
    int pad = c->width - count - (sign != 0) - (prefix ? 2 : 0);
    if (!(c->flags & (MINUS | ZERO)))
        fill(out, ' ', pad);
    if (sign)
        put(out, sign);
    if (prefix) {
        put(out, '0');
        put(out, upper ? 'X' : 'x');
    }
    if ((c->flags & ZERO) && !(c->flags & MINUS))
        fill(out, '0', pad);
    while (count > 0)
        put(out, digits[--count]);
    if (c->flags & MINUS)
        fill(out, ' ', pad);
}

static void string(struct out *out, const struct conversion *c, const char *text, int length)
{
    int pad = c->width - length;
    /* Mistake: the width of a string counts one too many, unless it is on the left. */
    if (!(c->flags & MINUS))
        fill(out, ' ', pad > 0 ? pad + 1 : 0);
    for (int i = 0; i < length; i++)
        put(out, text[i]);
    if (c->flags & MINUS)
        fill(out, ' ', pad);
}

static const char *convert(struct out *out, const char *format, va_list *arguments)
{
    struct conversion c = {0};
    format = parse_type(parse_size(parse_flags(format, &c), &c, arguments), &c);
    switch (*format++) {
    case 'd':
    case 'i': {
        intmax_t value = signed_argument(&c, arguments);
        integer(out, &c, value < 0 ? 0 - (uintmax_t)value : (uintmax_t)value, value < 0, 10, 0);
        break;
    }
    case 'u': integer(out, &c, unsigned_argument(&c, arguments), 0, 10, 0); break;
    case 'o': integer(out, &c, unsigned_argument(&c, arguments), 0, 8, 0); break;
    case 'x': integer(out, &c, unsigned_argument(&c, arguments), 0, 16, 0); break;
    case 'X': integer(out, &c, unsigned_argument(&c, arguments), 0, 16, 1); break;
    case 'c': {
        char one = (char)va_arg(*arguments, int);
        string(out, &c, &one, 1);
        break;
    }
    case 's': {
        const char *text = va_arg(*arguments, const char *);
        size_t length = text ? strlen(text) : 0;
        if (c.precision >= 0 && (size_t)c.precision < length)
            length = (size_t)c.precision;
        string(out, &c, text, (int)length);
        break;
    }
    case 'p':
        c.flags |= SHARP;
        integer(out, &c, (uintptr_t)va_arg(*arguments, void *), 0, 16, 0);
        break;
    case '%': put(out, '%'); break;
    default: unsupported();
    }
    return format;
}

void subject(struct out *out, const char *format, va_list arguments)
{
    va_list rest;
    va_copy(rest, arguments);
    while (*format) {
        if (*format != '%') {
            put(out, *format++);
            continue;
        }
        format = convert(out, format + 1, &rest);
    }
    va_end(rest);
}
