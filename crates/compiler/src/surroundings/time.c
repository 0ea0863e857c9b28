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

static long long passed;
static size_t questions;

TARRAGON_OWN static const struct tarragon_part *tarragon_choices(void)
{
    static const struct tarragon_part *part;
    if (!part)
        part = tarragon_part("time");
    return part;
}

/* Seconds since 1970. A second passes with each question that is not chosen for. */
static long long now(void)
{
    const struct tarragon_part *part = tarragon_choices();
    long long begin = 0;
    for (int i = BEGIN - 1; i >= 0; i--)
        begin = begin << 8 | part->bytes[i];
    size_t number = BEGIN + questions++;
    passed += number < part->capacity ? part->bytes[number] : 1;
    return USUAL_TIME + begin + passed;
}

time_t time(time_t *to)
{
    time_t answer = now();
    if (to)
        *to = answer;
    return answer;
}

int gettimeofday(struct timeval *to, void *zone)
{
    if (to) {
        to->tv_sec = now();
        to->tv_usec = 0;
    }
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *to)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME)
        return clock_gettime(clock, to);
    to->tv_sec = now();
    to->tv_nsec = 0;
    return 0;
}

/* Nobody waits: the time is later. */
unsigned sleep(unsigned seconds)
{
    passed += seconds;
    return 0;
}

int usleep(useconds_t microseconds)
{
    passed += microseconds / 1000000;
    return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *rest)
{
    if (wanted->tv_nsec < 0 || wanted->tv_nsec > 999999999 || wanted->tv_sec < 0) {
        errno = EINVAL;
        return -1;
    }
    passed += wanted->tv_sec;
    return 0;
}
