/* The format is the only input, as in the paper: its length is fixed, and the arguments are the
 * same for every conversion.
 *
 * With an argument, the program prints what the C library makes of the format and the same
 * arguments. What an implementation cannot do ends the run with status 3. */
#include "out.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 4096 };
static char text[ROOM];

/* The address of a string whose lower half is a negative number, so that each conversion finds
 * what it expects. As the width of a field, the number is one that a program can print. The
 * sanitizer has its shadow elsewhere. */
#define NUMBER (-12345)
#define PAGES ((char *)0x2000ffff0000)
#define ARGUMENT ((void *)(PAGES + (NUMBER & 0xffff)))

static size_t by_subject(const char *format, ...)
{
    struct out out = {text, ROOM, 0};
    va_list arguments;
    va_start(arguments, format);
    subject(&out, format, arguments);
    va_end(arguments);
    return out.used;
}

#define ARGUMENTS                                                                                  \
    ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, 3.25, 3.25,    \
        3.25, 3.25

int main(int argc, char **argv)
{
    char format[LENGTH_OF_FORMAT + 1] = "";
    size_t size = 0;
    (void)argv;
    if (mmap(PAGES, 0x10000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
        != PAGES)
        return 2;
    memcpy(ARGUMENT, "text", 5);
    while (size < LENGTH_OF_FORMAT) {
        ssize_t count = read(0, format + size, LENGTH_OF_FORMAT - size);
        if (count <= 0)
            break;
        size += (size_t)count;
    }
    size_t used = 0;
    if (argc > 1) {
        int count = snprintf(text, ROOM, format, ARGUMENTS);
        if (count < 0)
            return 4;
        used = (size_t)count;
    } else {
        used = by_subject(format, ARGUMENTS);
    }
    fwrite(text, 1, used < ROOM ? used : ROOM, stdout);
    return 0;
}
