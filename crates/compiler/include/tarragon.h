/* For tests that choose for themselves what is input. `tarragon cc` finds this header by itself; with any other compiler
 * it works just as well, and the program reads a test from its standard input. */
#ifndef TARRAGON_H
#define TARRAGON_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Fills memory with the next bytes of the input, and with zeros where the input has ended. */
static inline void tarragon_input(void *memory, size_t size)
{
    unsigned char *to = (unsigned char *)memory;
    size_t got = 0;
    while (got < size) {
        ssize_t count = read(0, to + got, size - got);
        if (count <= 0)
            break;
        got += (size_t)count;
    }
    while (got < size)
        to[got++] = 0;
}

/* Ends the run quietly if the condition does not hold: such inputs are of no interest. */
#define tarragon_assume(condition) \
    do {                           \
        if (!(condition))          \
            _exit(0);              \
    } while (0)

/* A property: an input that violates it is a bug. */
#define tarragon_check(condition)                                                                   \
    do {                                                                                            \
        if (!(condition)) {                                                                         \
            fprintf(stderr, "%s:%d: violated property: %s\n", __FILE__, __LINE__, #condition);      \
            abort();                                                                                \
        }                                                                                           \
    } while (0)

#endif
