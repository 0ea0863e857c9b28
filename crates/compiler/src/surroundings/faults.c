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

#ifdef TARRAGON_SESSIONS
ssize_t tarragon_sessions_read(int descriptor, void *to, size_t size);
#define REAL_READ tarragon_sessions_read
#else
#define REAL_READ read
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

/* Which call this is, of those that can fail; none if no more may. */
static int takes_part(size_t *number)
{
    *number = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    return __atomic_load_n(&failures, __ATOMIC_RELAXED) < TARRAGON_FAULTS
        && *number < tarragon_choices()->capacity;
}

static void fail(const char *name)
{
    __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
    tarragon_tell_fault(name);
}

/* How this call fails; 0 if it does not. */
static unsigned fault(const char *name)
{
    size_t number;
    if (!takes_part(&number))
        return 0;
    unsigned how = tarragon_choices()->bytes[number];
    if (how != 0)
        fail(name);
    return how;
}

/* How a call that can be short fails: interrupted, in an error, or with fewer bytes than it was
 * asked for, which `size` says then. */
enum { INTERRUPTED = 1, BROKEN, SHORT };

static unsigned fault_or_short(const char *name, size_t *size)
{
    size_t number, bytes = 1;
    if (!takes_part(&number))
        return 0;
    unsigned how = tarragon_choices()->bytes[number];
    if (how >= SHORT) {
        /* By one more each time, so that the number is no expression. */
        while (bytes < *size && bytes != how - SHORT + 1)
            bytes++;
        if (bytes >= *size)
            return 0;
        *size = bytes;
        how = SHORT;
    }
    if (how != 0)
        fail(name);
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
    return count != 0 && size != 0 && fault("reallocarray") ? no_memory()
                                                            : reallocarray(memory, count, size);
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
    int has_mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
    return has_mode ? va_arg(more, int) : 0;
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
    unsigned how = strchr("rwa", mode[0]) ? fault("fopen") : 0;
    if (!how)
        return REAL(fopen)(path, mode);
    not_opened(how);
    return NULL;
}

FILE *fopen64(const char *path, const char *mode)
{
    unsigned how = strchr("rwa", mode[0]) ? fault("fopen") : 0;
    if (!how)
        return REAL(fopen64)(path, mode);
    not_opened(how);
    return NULL;
}

ssize_t read(int descriptor, void *to, size_t size)
{
    switch (fault_or_short("read", &size)) {
    case INTERRUPTED: return fails(EINTR);
    case BROKEN: return fails(EIO);
    default: return REAL_READ(descriptor, to, size);
    }
}

ssize_t write(int descriptor, const void *from, size_t size)
{
    switch (fault_or_short("write", &size)) {
    case INTERRUPTED: return fails(EINTR);
    case BROKEN: return fails(ENOSPC);
    default: return write(descriptor, from, size);
    }
}

/* Later questions about the stream are answered by the library. */
static void note_error(FILE *stream)
{
    enum { ERROR_SEEN = 0x20 };
    if (stream)
        stream->_flags |= ERROR_SEEN;
    errno = ENOSPC;
}

size_t fwrite(const void *from, size_t size, size_t count, FILE *stream)
{
    if (size == 0 || count == 0 || !fault("fwrite"))
        return fwrite(from, size, count, stream);
    note_error(stream);
    return 0;
}

int fflush(FILE *stream)
{
    int result = fflush(stream);
    if (result != 0 || !fault("fflush"))
        return result;
    note_error(stream);
    return EOF;
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
