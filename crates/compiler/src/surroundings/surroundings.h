/* What code between a program and its surroundings knows of the input. The input is a container
 * (crates/sources): parts, each with a place that never moves. */
#ifndef TARRAGON_SURROUNDINGS_H
#define TARRAGON_SURROUNDINGS_H

#include <stddef.h>

/* Functions that are left as they are: no labels, no branches, no coverage. */
#define TARRAGON_OWN __attribute__((section(".text.tarragon"), noinline))

struct tarragon_part {
    const char *name;
    /* All `capacity` of them can be read. What is behind the length is zero. */
    unsigned char *bytes;
    /* Symbolic. Texts and parts of choices are as long as their capacity. */
    size_t length;
    size_t capacity;
    /* Of the first byte in the container, and how many bytes of length are before it. */
    size_t place;
    size_t head;
};

/* A part of the input by its name; null if there is none of that name. */
struct tarragon_part *tarragon_part(const char *name);

/* The same by a word and a number: `file1`. */
struct tarragon_part *tarragon_numbered(const char *name, int number);

/* What the descriptor delivers from now on, from its start and in order, are the bytes of the part.
 * A socket or file of its own. */
void tarragon_delivers(int descriptor, const struct tarragon_part *part);

/* A file with the bytes of the part, open for reading and writing, at its start; -1 if that
 * fails. */
int tarragon_file(const struct tarragon_part *part);

/* The same in the directory of the run, by its name: made when it is first asked for. Null if that
 * fails. */
const char *tarragon_named_file(struct tarragon_part *part);

/* Whether the path is that of such a file. */
int tarragon_is_named_file(const char *path);

/* Says on the standard error what the surroundings do, for reports: a line, as printf makes it. */
void tarragon_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
