/* A printf for small devices: few conversions, and silence about all others. */
#include "out.h"

static void padded(struct out *out, const char *text, int length, int width, int left, char pad)
{
    int rest = width - length;
    if (!left)
        for (int i = 0; i < rest; i++)
            put(out, pad);
    for (int i = 0; i < length; i++)
        put(out, text[i]);
    if (left)
        for (int i = 0; i < rest; i++)
            put(out, ' ');
}

static void number(struct out *out, unsigned value, int negative, unsigned base, char first,
                   int width, int left, char pad)
{
    char digits[16];
    int at = sizeof digits;
    do {
        unsigned digit = value % base;
        digits[--at] = (char)(digit < 10 ? '0' + digit : first + (digit - 10));
        value /= base;
    } while (value > 0);
    if (negative) {
        if (width > 0 && pad == '0') {
            put(out, '-');
            width--;
        } else {
            digits[--at] = '-';
        }
    }
    padded(out, digits + at, (int)sizeof digits - at, width, left, pad);
}

void subject(struct out *out, const char *format, va_list arguments)
{
    for (; *format; format++) {
        if (*format != '%') {
            put(out, *format);
            continue;
        }
        int width = 0, left = 0;
        char pad = ' ';
        format++;
        if (*format == 0)
            break;
        if (*format == '%') {
            put(out, '%');
            continue;
        }
        if (*format == '-') {
            left = 1;
            format++;
        }
        while (*format == '0') {
            pad = '0';
            format++;
        }
        for (; *format >= '0' && *format <= '9'; format++)
            width = width * 10 + (*format - '0');
        if (*format == 0)
            break;
        if (*format == 's') {
            const char *text = va_arg(arguments, const char *);
            int length = 0;
            if (!text)
                text = "(null)";
            while (text[length])
                length++;
            padded(out, text, length, width, left, pad);
        } else if (*format == 'd') {
            int value = va_arg(arguments, int);
            number(out, value < 0 ? 0u - (unsigned)value : (unsigned)value, value < 0, 10, 'a',
                   width, left, pad);
        } else if (*format == 'x') {
            number(out, va_arg(arguments, unsigned), 0, 16, 'a', width, left, pad);
        } else if (*format == 'X') {
            number(out, va_arg(arguments, unsigned), 0, 16, 'A', width, left, pad);
        } else if (*format == 'u') {
            number(out, va_arg(arguments, unsigned), 0, 10, 'a', width, left, pad);
        } else if (*format == 'c') {
            char one = (char)va_arg(arguments, int);
            padded(out, &one, 1, width, left, pad);
        }
    }
}
