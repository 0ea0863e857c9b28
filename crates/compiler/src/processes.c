/* Variants of programs that fork: see family.h. */
#include <fcntl.h>

int __fork(void);

/* What the program starts in its turn is not to be followed. */
#ifdef PRELOADED
__attribute__((constructor)) static void follow(void)
{
    is_followed = 1;
    unsetenv("LD_PRELOAD");
}
#endif

/* The traced variant has a model of it, which calls what is called here. */
#ifndef MODELLED
OWN int fork(void)
{
    found_family();
    int child = __fork();
    if (child > 0)
        __tarragon_forked(child);
    return child;
}
#endif

OWN int __tarragon_before_fork(void)
{
    found_family();
    return 0;
}

/* The C library's own would call its own `fork`. */
OWN int daemon(int keep_folder, int keep_streams)
{
    int child = fork();
    if (child != 0)
        child < 0 ? (void)0 : _exit(0);
    if (child < 0 || setsid() < 0)
        return -1;
    if (!keep_folder && chdir("/"))
        return -1;
    int nothing = keep_streams ? -1 : open("/dev/null", O_RDWR);
    for (int stream = 0; nothing >= 0 && stream < 3; stream++)
        dup2(nothing, stream);
    if (nothing > 2)
        close(nothing);
    return 0;
}

/* Of a child that stood still when it was forked, its parent hears here. */
OWN int waitpid(int child, int *status, int options)
{
    int ended = 0, is_own = 1;
    siginfo_t info = { 0 };
    int kind = child == -1 ? P_ALL : child > 0 ? P_PID : P_PGID;
    int wanted = WEXITED | WNOWAIT | (options & WNOHANG);
    if (family && !(options & (WUNTRACED | WCONTINUED))) {
        syscall(SYS_waitid, kind, child < 0 ? -child : child, &info, wanted, 0);
        is_own = info.si_pid == 0 || is_of_program(info.si_pid);
    }
    int found = (int)syscall(SYS_wait4, child, &ended, options, 0);
    if (found > 0 && family && is_own && WIFSIGNALED(ended) && is_crash(WTERMSIG(ended)))
        crash_with(WTERMSIG(ended));
    if (found > 0 && status)
        *status = ended;
    return found;
}

OWN int wait(int *status)
{
    return waitpid(-1, status, 0);
}
