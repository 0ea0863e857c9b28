/* Random numbers are input. After the bytes of their part they are those of the library. */
#define _GNU_SOURCE
#include "surroundings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static size_t used;

TARRAGON_OWN static const struct tarragon_part *tarragon_choices(void)
{
    static const struct tarragon_part *part;
    if (!part)
        part = tarragon_part("random");
    return part;
}

/* Whether there are so many bytes left, which are put into `to`. */
static int take(void *to, size_t size)
{
    const struct tarragon_part *part = tarragon_choices();
    if (size > part->capacity - used)
        return 0;
    memcpy(to, part->bytes + used, size);
    used += size;
    return 1;
}

int rand(void)
{
    uint32_t number;
    return take(&number, sizeof number) ? (int)(number & RAND_MAX) : rand();
}

int rand_r(unsigned *seed)
{
    uint32_t number;
    return take(&number, sizeof number) ? (int)(number & RAND_MAX) : rand_r(seed);
}

long random(void)
{
    uint32_t number;
    return take(&number, sizeof number) ? (long)(number & RAND_MAX) : random();
}

long lrand48(void)
{
    uint32_t number;
    return take(&number, sizeof number) ? (long)(number & 0x7fffffff) : lrand48();
}

double drand48(void)
{
    uint32_t number;
    return take(&number, sizeof number) ? number / 4294967296.0 : drand48();
}

uint32_t arc4random(void)
{
    uint32_t number;
    return take(&number, sizeof number) ? number : arc4random();
}

uint32_t arc4random_uniform(uint32_t bound)
{
    uint32_t number;
    return bound > 1 && take(&number, sizeof number) ? number % bound : arc4random_uniform(bound);
}

/* What there is of the part, then bytes that are the same in each run. */
static void fill(unsigned char *to, size_t size)
{
    static uint32_t state = 1;
    const struct tarragon_part *part = tarragon_choices();
    size_t left = part->capacity - used, taken = size < left ? size : left;
    take(to, taken);
    for (size_t i = taken; i < size; i++) {
        state = state * 1664525 + 1013904223;
        to[i] = (unsigned char)(state >> 24);
    }
}

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    if (flags & ~(unsigned)(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE))
        return getrandom(to, size, flags);
    fill(to, size);
    return (ssize_t)size;
}

int getentropy(void *to, size_t size)
{
    if (size > 256)
        return getentropy(to, size);
    fill(to, size);
    return 0;
}
