/* Processes that a program forks: a child runs to its end first, then its parent goes on. So a run
 * is the same each time, and whoever forks sees nothing that could not be otherwise, too. A child
 * that crashes ends its parent in the same way, since the run has crashed.
 *
 * A child that waits for its parent stands still. Then both go on. */
#ifndef TARRAGON_FAMILY_H
#define TARRAGON_FAMILY_H
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef OWN
#define OWN __attribute__((section(".text.tarragon"), noinline))
#endif

/* How often is looked whether anybody has run since, and after how often nobody will any more. */
enum { MEMBERS = 256, TICK_MS = 2, STILL_TICKS = 15, UNSEEN_TICKS = 50 };
/* Nobody waits longer than that for a child which may be waiting for its parent in a busy way. */
enum { MOST_MS = 400 };

/* In the traced variant: no search claims to be complete. */
__attribute__((weak)) void __tarragon_lost(void);

/* Processes of the program that its first fork has founded, shared by all of them. */
struct family {
    atomic_int count;
    struct member {
        atomic_int process;
        /* Waits for a child, which runs instead. */
        atomic_int waits;
    } members[MEMBERS];
};

static struct family *family;

/* Whoever runs the program wants its children followed. */
static int is_followed;

__attribute__((constructor)) OWN static void ask_whether_followed(void)
{
    is_followed = getenv("TARRAGON_FOLLOWS") != NULL;
}

OWN static int own_number(void)
{
    return (int)syscall(SYS_getpid);
}

OWN static struct member *member(int process)
{
    int count = family->count < MEMBERS ? (int)family->count : MEMBERS;
    for (int i = 0; i < count; i++)
        if (family->members[i].process == process)
            return &family->members[i];
    return NULL;
}

OWN static struct member *enrol(int process)
{
    struct member *known = member(process);
    int number;
    if (known)
        return known;
    number = family->count++;
    if (number >= MEMBERS)
        return NULL;
    family->members[number].process = process;
    return &family->members[number];
}

/* Before a fork, so that parent and child share it. Not where the program runs by itself. */
OWN static void found_family(void)
{
    if (family || !is_followed)
        return;
    /* By a system call: what the program maps itself is looked at. */
    void *memory = (void *)syscall(SYS_mmap, NULL, sizeof *family, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    family = memory == MAP_FAILED ? NULL : memory;
}

/* Processor time of all threads of a process in nanoseconds; 0 if it is gone. */
OWN static long long time_of(int process)
{
    struct timespec time = { 0, 0 };
    syscall(SYS_clock_gettime, (~process << 3) | 2, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Whether a thread of the process is running, ready to, or about to be woken by the kernel. */
OWN static int is_busy(const char *status)
{
    char text[512];
    int file = (int)syscall(SYS_openat, -100, status, 0, 0);
    long size = file < 0 ? 0 : syscall(SYS_read, file, text, sizeof text - 1);
    if (file >= 0)
        syscall(SYS_close, file);
    text[size > 0 ? size : 0] = 0;
    char *end = strrchr(text, ')');
    return end && (end[2] == 'R' || end[2] == 'D');
}

OWN static void put_number(char *to, int number)
{
    char digits[12];
    int count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10));
    while (count)
        *to++ = digits[--count];
    *to = 0;
}

/* Whether the numbers below `/proc` are those that processes have here. */
OWN static int can_look(void)
{
    char own[16], there[16] = "";
    put_number(own, own_number());
    syscall(SYS_readlinkat, -100, "/proc/self", there, sizeof there - 1);
    return strcmp(own, there) == 0;
}

OWN static int is_process_busy(int process)
{
    char path[64] = "/proc/";
    put_number(path + strlen(path), process);
    strcat(path, "/stat");
    return is_busy(path);
}

/* What the others have run so far, and whether one of them runs now. */
OWN static int others_run(long long *time_before, int looks)
{
    long long time = 0;
    int busy = 0, self = own_number();
    int count = !family ? 0 : family->count < MEMBERS ? (int)family->count : MEMBERS;
    for (int i = 0; i < count; i++) {
        int process = family->members[i].process;
        if (process == self || process == 0 || family->members[i].waits)
            continue;
        time += time_of(process);
        busy |= looks && is_process_busy(process);
    }
    busy |= time != *time_before;
    *time_before = time;
    return busy;
}

OWN static long long milliseconds_now(void)
{
    struct timespec time = { 0, 0 };
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

/* Waits for the end of the process, which is still there to be reaped; 0 if it stands still. */
OWN static int wait_for(int process)
{
    struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, process, 0), .events = POLLIN };
    long long time = -1, end_by = milliseconds_now() + MOST_MS;
    int still = 0, ended = 0, looks = can_look(), most = looks ? STILL_TICKS : UNSEEN_TICKS;
    while (!ended && still < most && milliseconds_now() < end_by) {
        struct timespec tick = { 0, TICK_MS * 1000000 };
        siginfo_t info = { 0 };
        if (end.fd >= 0)
            syscall(SYS_ppoll, &end, 1, &tick, 0, 0);
        else
            syscall(SYS_nanosleep, &tick, 0);
        long failed = syscall(SYS_waitid, P_PID, process, &info, WEXITED | WNOHANG | WNOWAIT, 0);
        ended = failed || info.si_pid == process;
        still = others_run(&time, looks) ? 0 : still + 1;
    }
    if (end.fd >= 0)
        syscall(SYS_close, end.fd);
    return ended;
}

/* How the kernel has it. */
struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void *restorer;
    unsigned long mask;
};

OWN static int is_crash(int signal)
{
    static const int crashes[] = { SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS };
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (crashes[i] == signal)
            return 1;
    return 0;
}

/* Past the handlers of the program and of sanitizers, which have reported already. */
OWN static void die_by(int signal)
{
    struct kernel_action none = { 0 };
    unsigned long mask = 1ul << (signal - 1);
    syscall(SYS_rt_sigaction, signal, &none, 0, sizeof mask);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, 0, sizeof mask);
    syscall(SYS_kill, own_number(), signal);
}

/* A parent that ignores its children leaves none to be looked at. */
OWN static int ignores(const struct kernel_action *action)
{
    return action->handler == SIG_IGN || action->flags & SA_NOCLDWAIT;
}

/* Whether a process that has ended, and was not reaped, ran this program: another has another
 * name. */
OWN static int is_of_program(int process)
{
    char path[64] = "/proc/", own[64] = "", other[64] = "";
    int self = (int)syscall(SYS_openat, -100, "/proc/self/comm", 0, 0);
    put_number(path + strlen(path), process);
    strcat(path, "/comm");
    int ended = (int)syscall(SYS_openat, -100, path, 0, 0);
    if (self >= 0 && ended >= 0 && can_look()) {
        syscall(SYS_read, self, own, sizeof own - 1);
        syscall(SYS_read, ended, other, sizeof other - 1);
    }
    if (self >= 0)
        syscall(SYS_close, self);
    if (ended >= 0)
        syscall(SYS_close, ended);
    return strcmp(own, other) == 0;
}

/* The run has crashed with its child, whatever its parent would do about it. */
OWN static void crash_with(int signal)
{
    if (__tarragon_lost)
        __tarragon_lost();
    die_by(signal);
}

/* How a child ended that nobody has reaped. */
OWN static void look_at(int child, int reap)
{
    siginfo_t info = { 0 };
    int is_own = is_of_program(child);
    syscall(SYS_waitid, P_PID, child, &info, WEXITED | WNOHANG | (reap ? 0 : WNOWAIT), 0);
    int was_killed = info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
    if (info.si_pid == child && is_own && was_killed && is_crash(info.si_status))
        crash_with(info.si_status);
}

/* After a fork, in the parent: whether the child has ended. The parent's handler for that is called
 * when this is known. */
OWN int __tarragon_forked(int child)
{
    struct kernel_action action = { 0 }, usual = { 0 };
    unsigned long mask = 1ul << (SIGCHLD - 1), before = 0;
    int error = errno, ended = 0;
    struct member *self = NULL;
    if (family) {
        self = enrol(own_number());
        enrol(child);
    }
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, &before, sizeof mask);
    syscall(SYS_rt_sigaction, SIGCHLD, 0, &action, sizeof mask);
    if (ignores(&action))
        syscall(SYS_rt_sigaction, SIGCHLD, &usual, 0, sizeof mask);
    if (self)
        self->waits = 1;
    if (family)
        ended = wait_for(child);
    if (self)
        self->waits = 0;
    if (ended)
        look_at(child, ignores(&action));
    if (ignores(&action))
        syscall(SYS_rt_sigaction, SIGCHLD, &action, 0, sizeof mask);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof mask);
    errno = error;
    return ended;
}

#endif
