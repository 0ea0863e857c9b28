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

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    return take(to, size) ? (ssize_t)size : getrandom(to, size, flags);
}

int getentropy(void *to, size_t size)
{
    return take(to, size) ? 0 : getentropy(to, size);
}
