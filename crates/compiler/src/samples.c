/* Stacks of a run of the sanitized variant that does not end: from a given time on a signal comes every few milliseconds, and
 * what was on the stack each time is where the run is stuck. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

/* A signal of its own: programs have uses for the usual timers. */
OWN __attribute__((constructor)) static void sample_later(void)
{
    const char *after = getenv("TARRAGON_SAMPLES");
    if (!after)
        return;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = sample;
    action.sa_flags = SA_RESTART;
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMAX - 3;
    timer_t timer;
    struct itimerspec times = { milliseconds(INTERVAL_MS), milliseconds(atol(after) > 0 ? atol(after) : 1) };
    if (sigaction(event.sigev_signo, &action, NULL) == 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &times, NULL);
}
