/* Stacks of a run of the sanitized variant that does not end: from a given time on a signal comes
 * every few milliseconds, and what was on the stack each time is where the run is stuck. Of a run
 * that stands still, each thread prints its stack once. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((section(".text.tarragon")))

enum { SAMPLES = 40, INTERVAL_MS = 5 };

void __sanitizer_print_stack_trace(void);

OWN static void sample(int number)
{
    static const char title[] = "==Tarragon: sample\n";
    static int count;
    (void)number;
    if (write(2, title, sizeof title - 1) < 0)
        _exit(1);
    __sanitizer_print_stack_trace();
    if (++count == SAMPLES)
        _exit(0);
}

OWN static struct timespec milliseconds(long count)
{
    struct timespec time = { count / 1000, count % 1000 * 1000000 };
    return time;
}

/* What the processes of the run tell each other. */
static volatile struct {
    int stacks;   /* that were printed */
    int finished; /* the last process all of whose threads were asked */
} *progress;
static pid_t first_process;

OWN static void print_own_stack(int number)
{
    static const char title[] = "==Tarragon: sample\n";
    (void)number;
    if (write(2, title, sizeof title - 1) < 0)
        _exit(1);
    __sanitizer_print_stack_trace();
    __atomic_fetch_add(&progress->stacks, 1, __ATOMIC_SEQ_CST);
}

/* What cannot answer is left out. */
OWN static int goes_on(int *tries)
{
    struct timespec pause = milliseconds(1);
    nanosleep(&pause, NULL);
    return ++*tries < 500;
}

/* Signal handlers call nothing that allocates. */
OWN static long content(const char *folder, const char *name, const char *file, char *to, long size)
{
    char path[96] = "";
    if (strlen(folder) + strlen(name) + strlen(file) >= sizeof path)
        return 0;
    int opened = open(strcat(strcat(strcat(path, folder), name), file), O_RDONLY | O_CLOEXEC);
    long length = opened < 0 ? 0 : read(opened, to, size - 1);
    if (opened >= 0)
        close(opened);
    to[length > 0 ? length : 0] = 0;
    return length;
}

/* The number of a thread or process in its own namespace, where /proc is of another. */
OWN static int own_number(const char *folder, const char *name)
{
    char status[4096];
    content(folder, name, "/status", status, sizeof status);
    char *at = strstr(status, "\nNSpid:"), *end = at ? strchr(at + 1, '\n') : NULL;
    if (!end)
        return 0;
    while (end > at && end[-1] >= '0' && end[-1] <= '9')
        end--;
    return atoi(end);
}

OWN static void ask_thread(const char *name)
{
    int thread = own_number("/proc/self/task/", name), before = progress->stacks, tries = 0;
    if (thread > 0 && syscall(SYS_tgkill, getpid(), thread, SIGRTMAX - 4) == 0)
        while (progress->stacks == before && goes_on(&tries))
            ;
}

/* They print the stacks of their threads, and ask their own children. */
OWN static void ask_children(const char *thread)
{
    char list[1024];
    content("/proc/self/task/", thread, "/children", list, sizeof list);
    for (char *word = strtok(list, " "); word; word = strtok(NULL, " ")) {
        int child = own_number("/proc/", word), tries = 0;
        if (child > 0 && kill(child, SIGRTMAX - 3) == 0)
            while (progress->finished != child && goes_on(&tries))
                ;
    }
}

struct entry {
    unsigned long inode, offset;
    unsigned short size;
    unsigned char type;
    char name[];
};

OWN static void for_each_thread(void (*ask)(const char *))
{
    char buffer[4096];
    int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long size;
         folder >= 0 && (size = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0;)
        for (long at = 0; at < size; at += ((struct entry *)(buffer + at))->size) {
            const char *name = ((struct entry *)(buffer + at))->name;
            if (name[0] != '.')
                ask(name);
        }
    if (folder >= 0)
        close(folder);
}

OWN static void print_threads(int number)
{
    (void)number;
    for_each_thread(ask_thread);
    for_each_thread(ask_children);
    progress->finished = getpid();
    if (getpid() == first_process)
        _exit(0);
}

OWN static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, NULL);
}

/* Signals of its own: programs have uses for the usual timers. */
OWN __attribute__((constructor)) static void sample_later(void)
{
    const char *of_one = getenv("TARRAGON_SAMPLES"), *of_all = getenv("TARRAGON_THREADS");
    const char *after = of_all ? of_all : of_one;
    if (!after)
        return;
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMAX - 3;
    handle(event.sigev_signo, of_all ? print_threads : sample);
    if (of_all) {
        handle(SIGRTMAX - 4, print_own_stack);
        first_process = getpid();
        progress =
            mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (progress == MAP_FAILED)
            return;
    }
    timer_t timer;
    struct itimerspec times = {milliseconds(of_all ? 0 : INTERVAL_MS),
                               milliseconds(atol(after) > 0 ? atol(after) : 1)};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &times, NULL);
}
