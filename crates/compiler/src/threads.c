/* Threads with small stacks, in variants: their functions need more of it, and the runtime does,
 * too. Stacks are larger than the program asks for, which it does not see. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#ifndef OWN
#define OWN __attribute__((section(".text.tarragon"), noinline))
#endif

/* What is added. No program asks for a size with the odd byte of it, so that it can be told. */
enum { SPARE = (1 << 20) + 1 };

typedef int set_size(pthread_attr_t *attributes, size_t size);
typedef int get_size(const pthread_attr_t *attributes, size_t *size);

OWN int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size)
{
    set_size *set = (set_size *)dlsym(RTLD_NEXT, "pthread_attr_setstacksize");
    int failed = set(attributes, size);
    return failed ? failed : set(attributes, (size & ~(size_t)1) + SPARE);
}

OWN int pthread_attr_getstacksize(const pthread_attr_t *attributes, size_t *size)
{
    get_size *get = (get_size *)dlsym(RTLD_NEXT, "pthread_attr_getstacksize");
    int failed = get(attributes, size);
    if (!failed && *size & 1)
        *size -= SPARE;
    return failed;
}
