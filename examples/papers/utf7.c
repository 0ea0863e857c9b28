/* Converts a line from UTF-8 to the UTF-7 of IMAP mailbox names, as a mail reader would.
 *
 * The mistake is the one that "Execution Generated Test Cases" (section 4) tells of: the output gets twice the room of the
 * input, which is not enough for a character that needs base64 on its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first mend that was published gave it seven thirds, which is not enough either. */
#ifndef ROOM_FOR
#define ROOM_FOR(length) (2 * (length) + 1)
#endif

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,";

/* One character of up to three bytes; the number of its bytes, or 0 if there is none. */
static int decode(const unsigned char *text, size_t left, unsigned *code)
{
    if (text[0] < 0x80) {
        *code = text[0];
        return 1;
    }
    int more = (text[0] & 0xe0) == 0xc0 ? 1 : (text[0] & 0xf0) == 0xe0 ? 2 : 0;
    if (more == 0 || left <= (size_t)more)
        return 0;
    *code = text[0] & (0x3f >> more);
    for (int i = 1; i <= more; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (text[i] & 0x3f);
    }
    return *code >= 0x80 ? more + 1 : 0;
}

static char *utf8_to_utf7(const unsigned char *text, size_t length)
{
    char *result = malloc(ROOM_FOR(length)), *out = result;
    unsigned bits = 0, count = 0;
    int shifted = 0;
    for (size_t at = 0; at < length;) {
        unsigned code;
        int size = decode(text + at, length - at, &code);
        if (size == 0) {
            free(result);
            return NULL;
        }
        at += (size_t)size;
        if (code < 0x20 || code >= 0x7f) {
            if (!shifted) {
                *out++ = '&';
                shifted = 1;
                bits = count = 0;
            }
            bits = bits << 16 | code;
            for (count += 16; count >= 6; count -= 6)
                *out++ = digits[bits >> (count - 6) & 0x3f];
            continue;
        }
        if (shifted) {
            if (count)
                *out++ = digits[bits << (6 - count) & 0x3f];
            *out++ = '-';
            shifted = 0;
        }
        *out++ = (char)code;
        if (code == '&')
            *out++ = '-';
    }
    if (shifted) {
        if (count)
            *out++ = digits[bits << (6 - count) & 0x3f];
        *out++ = '-';
    }
    *out = 0;
    return result;
}

int main(void)
{
    unsigned char line[64];
    if (!fgets((char *)line, sizeof line, stdin))
        return 1;
    size_t length = strcspn((char *)line, "\n");
    char *name = utf8_to_utf7(line, length);
    if (!name) {
        puts("not UTF-8");
        return 1;
    }
    puts(name);
    free(name);
    return 0;
}
