/* The command: reads a program from a file or from standard input, compiles and runs it. */
#include "sprig.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Everything allocated, so that it can be given back at the end. */
struct block {
    struct block *next;
    max_align_t payload[];
};

static struct block *blocks;
static struct program program;

static void *checked(void *memory)
{
    if (!memory)
        fail(EXIT_USAGE, 0, "out of memory");
    return memory;
}

void *allocate(size_t size)
{
    struct block *block = checked(calloc(1, sizeof *block + size));
    block->next = blocks;
    blocks = block;
    return block->payload;
}

static void release_all(void)
{
    while (blocks) {
        struct block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
    free(program.code);
}

void fail(enum exit_code code, int line, const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    if (line > 0)
        fprintf(stderr, "line %d: ", line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(code);
}

bool same_text(struct text a, struct text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

static struct text read_all(FILE *file)
{
    size_t capacity = 1024, length = 0, count;
    char *bytes = allocate(capacity);
    while ((count = fread(bytes + length, 1, capacity - length, file)) > 0) {
        length += count;
        if (length == capacity) {
            char *larger = allocate(2 * capacity);
            memcpy(larger, bytes, length);
            bytes = larger;
            capacity *= 2;
        }
    }
    return (struct text){bytes, length};
}

static struct text read_source(int count, char **arguments)
{
    if (count < 2)
        return read_all(stdin);
    FILE *file = fopen(arguments[1], "rb");
    if (!file)
        fail(EXIT_USAGE, 0, "cannot read %s", arguments[1]);
    struct text source = read_all(file);
    fclose(file);
    return source;
}

int main(int count, char **arguments)
{
    if (count > 2)
        fail(EXIT_USAGE, 0, "usage: sprig [FILE]");
    generate(&program, parse(read_source(count, arguments)));
    run(&program);
    release_all();
    return 0;
}
