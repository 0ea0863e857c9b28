/* Calls of the system that fail: which of them, and how, is input. At most so many in a run. */
#define _GNU_SOURCE
#include "models.h"
#include "surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef TARRAGON_FILES
int tarragon_files_open(const char *path, int flags, ...);
int tarragon_files_open64(const char *path, int flags, ...);
int tarragon_files_openat(int folder, const char *path, int flags, ...);
FILE *tarragon_files_fopen(const char *path, const char *mode);
FILE *tarragon_files_fopen64(const char *path, const char *mode);
#define REAL(name) tarragon_files_##name
#else
#define REAL(name) name
#endif

/* Where the program makes the call that is answered: set before each. */
const char *tarragon_site = "";

static int failures;
static size_t calls;

TARRAGON_OWN static const struct tarragon_part *tarragon_choices(void)
{
    static const struct tarragon_part *part;
    if (!part)
        part = tarragon_part("faults");
    return part;
}

TARRAGON_OWN static void tarragon_tell_fault(const char *name)
{
    const char *at = *tarragon_site ? " at " : "";
    tarragon_tell("%s fails%s%s (call %zu of those that can)", name, at, tarragon_site, calls);
}

/* How this call fails; 0 if it does not. */
static unsigned fault(const char *name)
{
    const struct tarragon_part *part = tarragon_choices();
    if (failures == TARRAGON_FAULTS || calls >= part->capacity)
        return 0;
    unsigned how = part->bytes[calls++];
    if (how == 0)
        return 0;
    failures++;
    tarragon_tell_fault(name);
    return how;
}

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

static int fails(int error)
{
    errno = error;
    return -1;
}

void *malloc(size_t size)
{
    return fault("malloc") ? no_memory() : malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fault("calloc") ? no_memory() : calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return size != 0 && fault("realloc") ? no_memory() : realloc(memory, size);
}

void *reallocarray(void *memory, size_t count, size_t size)
{
    return fault("reallocarray") ? no_memory() : reallocarray(memory, count, size);
}

char *strdup(const char *text)
{
    return fault("strdup") ? no_memory() : strdup(text);
}

char *strndup(const char *text, size_t size)
{
    return fault("strndup") ? no_memory() : strndup(text, size);
}

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset)
{
    if (!fault("mmap"))
        return mmap(address, size, protection, flags, descriptor, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

static int not_opened(unsigned how)
{
    switch (how) {
    case 1: return fails(ENOENT);
    case 2: return fails(EACCES);
    default: return fails(EMFILE);
    }
}

static int mode_of(int flags, va_list more)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = mode_of(flags, more);
    va_end(more);
    unsigned how = fault("open");
    return how ? not_opened(how) : REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = mode_of(flags, more);
    va_end(more);
    unsigned how = fault("open");
    return how ? not_opened(how) : REAL(open64)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = mode_of(flags, more);
    va_end(more);
    unsigned how = fault("openat");
    return how ? not_opened(how) : REAL(openat)(folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    unsigned how = fault("fopen");
    if (!how)
        return REAL(fopen)(path, mode);
    not_opened(how);
    return NULL;
}

FILE *fopen64(const char *path, const char *mode)
{
    unsigned how = fault("fopen");
    if (!how)
        return REAL(fopen64)(path, mode);
    not_opened(how);
    return NULL;
}

/* Interrupted, an error, or short. */
static ssize_t cut(unsigned how, int error, size_t *size)
{
    if (how == 1)
        return fails(EINTR);
    if (how == 2)
        return fails(error);
    if (how - 2 < *size)
        *size = how - 2;
    return 0;
}

ssize_t read(int descriptor, void *to, size_t size)
{
    unsigned how = fault("read");
    return how && cut(how, EIO, &size) ? -1 : read(descriptor, to, size);
}

ssize_t write(int descriptor, const void *from, size_t size)
{
    unsigned how = fault("write");
    return how && cut(how, ENOSPC, &size) ? -1 : write(descriptor, from, size);
}

size_t fwrite(const void *from, size_t size, size_t count, FILE *stream)
{
    if (!fault("fwrite"))
        return fwrite(from, size, count, stream);
    errno = ENOSPC;
    return 0;
}

int fflush(FILE *stream)
{
    int result = fflush(stream);
    return result == 0 && fault("fflush") ? (errno = ENOSPC, EOF) : result;
}

/* The stream is closed whatever the answer. */
int fclose(FILE *stream)
{
    int result = fclose(stream);
    return result == 0 && fault("fclose") ? (errno = ENOSPC, EOF) : result;
}

pid_t fork(void)
{
    return fault("fork") ? fails(EAGAIN) : fork();
}

int pipe(int ends[2])
{
    return fault("pipe") ? fails(EMFILE) : pipe(ends);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    return fault("pthread_create") ? EAGAIN : pthread_create(thread, attributes, start, argument);
}
