/* Whether the other threads of a program still have something to do. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef OWN
#define OWN __attribute__((section(".text.tarragon"), noinline))
#endif

enum { PAUSE_MS = 2, QUIET_PAUSES = 8, MOST_PAUSES = 60 };

/* In the traced variant: no search claims to be complete. */
__attribute__((weak)) void __tarragon_undecided(void);

/* How the kernel lists a folder. */
struct listed {
    unsigned long long number, next;
    unsigned short size;
    unsigned char type;
    char name[];
};

OWN static long read_all(const char *path, char *text, size_t size)
{
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
    long got = file < 0 ? 0 : syscall(SYS_read, file, text, size - 1);
    if (file >= 0)
        syscall(SYS_close, file);
    text[got > 0 ? got : 0] = 0;
    return got;
}

/* What tells whether the thread has run in between: its state and its times. */
OWN static unsigned long look_at_thread(const char *name, int *runs)
{
    char path[64] = "/proc/self/task/", text[512];
    unsigned long sum = 5381;
    strcat(path, name);
    strcat(path, "/stat");
    if (read_all(path, text, sizeof text) <= 0)
        return 0;
    char *state = strrchr(text, ')');
    if (!state)
        return 0;
    *runs |= state[2] == 'R' || state[2] == 'D';
    strcpy(path + strlen(path) - strlen("stat"), "schedstat");
    read_all(path, text, sizeof text);
    for (char *at = text; *at; at++)
        sum = sum * 33 + (unsigned char)*at;
    return sum;
}

/* How many other threads there are; what tells whether they have run, and whether one runs now. */
OWN static int look_at_threads(unsigned long *sum, int *runs)
{
    char list[4096];
    int folder = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY, 0);
    long size = folder < 0 ? 0 : syscall(SYS_getdents64, folder, list, sizeof list);
    int count = 0, self = (int)syscall(SYS_gettid);
    if (folder >= 0)
        syscall(SYS_close, folder);
    for (long at = 0; at < size; at += ((struct listed *)(list + at))->size) {
        const char *name = ((struct listed *)(list + at))->name;
        int number = 0;
        for (const char *digit = name; *digit >= '0' && *digit <= '9'; digit++)
            number = number * 10 + *digit - '0';
        if (number == 0 || number == self)
            continue;
        count++;
        *sum = *sum * 31 + look_at_thread(name, runs);
    }
    return count;
}

/* Waits until the other threads have ended or wait themselves. Whether one of them has run
 * meanwhile. */
OWN static int settle(void)
{
    unsigned long before = 0;
    int quiet = 0, ran = 0, pauses = 0;
    for (int first = 1; quiet < QUIET_PAUSES; first = 0) {
        if (pauses++ == MOST_PAUSES) {
            if (__tarragon_undecided)
                __tarragon_undecided();
            return ran;
        }
        unsigned long now = 0;
        int runs = 0;
        struct timespec pause = { 0, PAUSE_MS * 1000000 };
        if (look_at_threads(&now, &runs) == 0)
            return ran;
        runs |= !first && now != before;
        ran |= runs;
        quiet = runs ? 0 : quiet + 1;
        before = now;
        syscall(SYS_nanosleep, &pause, 0);
    }
    return ran;
}
