/* The time is input: when the run begins, and how much later each further question comes. */
#define _GNU_SOURCE
#include "surroundings.h"

#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Seconds of the beginning, low byte first; then the seconds between questions. */
enum { BEGIN = 5, USUAL_TIME = 1000000000 };
static const long long SECOND = 1000000000;

/* Nanoseconds since the beginning. */
static long long passed;
static size_t questions;

TARRAGON_OWN static const struct tarragon_part *tarragon_choices(void)
{
    static const struct tarragon_part *part;
    if (!part)
        part = tarragon_part("time");
    return part;
}

/* A second passes with each question that is not chosen for. */
static struct timespec now(void)
{
    const struct tarragon_part *part = tarragon_choices();
    long long begin = 0;
    for (int i = BEGIN - 1; i >= 0; i--)
        begin = begin << 8 | part->bytes[i];
    size_t number = BEGIN + questions++;
    passed += (number < part->capacity ? part->bytes[number] : 1) * SECOND;
    long long seconds = USUAL_TIME + begin + passed / SECOND;
    return (struct timespec){ .tv_sec = seconds, .tv_nsec = passed % SECOND };
}

time_t time(time_t *to)
{
    time_t answer = now().tv_sec;
    if (to)
        *to = answer;
    return answer;
}

int gettimeofday(struct timeval *to, void *zone)
{
    if (to) {
        struct timespec time = now();
        to->tv_sec = time.tv_sec;
        to->tv_usec = time.tv_nsec / 1000;
    }
    return 0;
}

static int is_of_processor(clockid_t clock)
{
    return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0;
}

int clock_gettime(clockid_t clock, struct timespec *to)
{
    if (is_of_processor(clock) || clock > CLOCK_TAI)
        return clock_gettime(clock, to);
    *to = now();
    return 0;
}

int timespec_get(struct timespec *to, int base)
{
    if (base != TIME_UTC)
        return timespec_get(to, base);
    *to = now();
    return base;
}

/* Nobody waits: the time is later. */
unsigned sleep(unsigned seconds)
{
    passed += seconds * SECOND;
    return 0;
}

int usleep(useconds_t microseconds)
{
    passed += microseconds * 1000LL;
    return 0;
}

static int wait_for(const struct timespec *wanted)
{
    if (wanted->tv_nsec < 0 || wanted->tv_nsec >= SECOND || wanted->tv_sec < 0)
        return EINVAL;
    passed += wanted->tv_sec * SECOND + wanted->tv_nsec;
    return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *rest)
{
    int error = wait_for(wanted);
    if (error)
        errno = error;
    return error ? -1 : 0;
}

/* Until a time that is passed, or for a while. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *rest)
{
    if (!(flags & TIMER_ABSTIME))
        return wait_for(wanted);
    struct timespec time = now();
    long long seconds = wanted->tv_sec - time.tv_sec;
    if (seconds > 0)
        passed += seconds * SECOND;
    return 0;
}
