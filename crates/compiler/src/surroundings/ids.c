/* Who runs the program, and as which process, is input. */
#define _GNU_SOURCE
#include "surroundings.h"

#include <sys/types.h>
#include <unistd.h>

/* What zero stands for. */
enum { USUAL = 1000 };
/* Which number of the part, of two bytes each. */
enum { PROCESS, PARENT, USER, EFFECTIVE_USER, GROUP, EFFECTIVE_GROUP };

TARRAGON_OWN static const unsigned char *tarragon_choices(void)
{
    static const struct tarragon_part *part;
    if (!part)
        part = tarragon_part("ids");
    return part->bytes;
}

static int number(int which)
{
    const unsigned char *bytes = tarragon_choices() + 2 * which;
    return USUAL ^ (bytes[0] | bytes[1] << 8);
}

/* No process has the number 0. */
static pid_t process(int which)
{
    int id = number(which);
    return id == 0 ? USUAL : id;
}

pid_t getpid(void)
{
    return process(PROCESS);
}

pid_t getppid(void)
{
    return process(PARENT);
}

uid_t getuid(void)
{
    return (uid_t)number(USER);
}

uid_t geteuid(void)
{
    return (uid_t)number(EFFECTIVE_USER);
}

gid_t getgid(void)
{
    return (gid_t)number(GROUP);
}

gid_t getegid(void)
{
    return (gid_t)number(EFFECTIVE_GROUP);
}
