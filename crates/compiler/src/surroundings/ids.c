/* Who runs the program, and as which process, is input. */
#define _GNU_SOURCE
#include "surroundings.h"

#include <errno.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

/* What zero stands for, of users and groups; processes follow each other. */
enum { USUAL = 1000 };
/* Which number of the part, of two bytes each. */
enum { PROCESS, PARENT, USER, EFFECTIVE_USER, GROUP, EFFECTIVE_GROUP };

TARRAGON_OWN static const unsigned char *tarragon_ids(void)
{
    static const struct tarragon_part *part;
    if (!part)
        part = tarragon_part("ids");
    return part->bytes;
}

/* Forked children have the numbers that they have. */
TARRAGON_OWN static int tarragon_is_child(void)
{
    return getpid() != tarragon_process();
}

static int number(int which, int usual)
{
    const unsigned char *bytes = tarragon_ids() + 2 * which;
    return usual ^ (bytes[0] | bytes[1] << 8);
}

/* No process has the number 0. */
static pid_t own(void)
{
    int id = number(PROCESS, USUAL);
    return id == 0 ? USUAL : id;
}

pid_t getpid(void)
{
    return tarragon_is_child() ? getpid() : own();
}

pid_t getppid(void)
{
    if (tarragon_is_child())
        return own();
    int id = number(PARENT, USUAL + 1);
    return id == own() ? id + 1 : id;
}

/* Signals reach this process under both of its numbers; who starts it is not to be disturbed. */
int kill(pid_t process, int signal)
{
    if (!tarragon_is_child() && process == own())
        return kill(getpid(), signal);
    if (!tarragon_is_child() && process == number(PARENT, USUAL + 1)) {
        errno = EPERM;
        return -1;
    }
    return kill(process, signal);
}

uid_t getuid(void)
{
    return (uid_t)number(USER, USUAL);
}

uid_t geteuid(void)
{
    return (uid_t)number(EFFECTIVE_USER, USUAL);
}

gid_t getgid(void)
{
    return (gid_t)number(GROUP, USUAL);
}

gid_t getegid(void)
{
    return (gid_t)number(EFFECTIVE_GROUP, USUAL);
}

/* For files. */
uid_t tarragon_user(void)
{
    return (uid_t)number(USER, USUAL);
}

gid_t tarragon_group(void)
{
    return (gid_t)number(GROUP, USUAL);
}
