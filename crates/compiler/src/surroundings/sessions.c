/* Connections and datagrams of a program, each a part of the input: `connection1`, `connection2`
 * and so on, in the order in which the program takes them. Where messages end is input, too: the
 * part `messages` has the size of each, and zero is all that is there. After the last connection, a
 * program that waits for another ends.
 *
 * A connection delivers its messages at once, and the kernel keeps them apart: a read that has
 * taken a message with ancillary data (a descriptor, which nobody asks for) ends there. So reads
 * and waits of all kinds are the kernel's. */
#include "models.h"
#include "surroundings.h"

#include "settle.h"
#include "sockets.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* Reads may fail, too. */
#ifdef TARRAGON_FAULTS
#define ANSWER(name) tarragon_sessions_##name
#else
#define ANSWER(name) name
#endif

/* In the traced variant: the byte of the input at this place was asked for the size of a message,
 * which begins with the byte `start` of a part. */
__attribute__((weak)) void __tarragon_asks_size(size_t place, size_t part, size_t start);

/* Shared with children, which may take connections themselves. */
struct session {
    /* Connections taken so far, and sizes of messages. */
    int taken, sized;
};

/* Timeouts of a program for which nothing is left to wait, before it ends. */
enum { TIMEOUTS = 3 };

TARRAGON_OWN static struct session *session(void)
{
    static struct session *shared;
    if (!shared)
        shared = (void *)syscall(SYS_mmap, NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared;
}

/* Before the program begins, so that its children have the same. */
TARRAGON_OWN void tarragon_begin_sessions(void)
{
    session()->taken = session()->sized = 0;
}

/* The next connection; null if there is none. */
TARRAGON_OWN static struct tarragon_part *next_connection(void)
{
    char name[32];
    snprintf(name, sizeof name, "connection%d", session()->taken + 1);
    return tarragon_part(name);
}

/* The size of the message that begins here. */
TARRAGON_OWN static size_t next_size(const struct tarragon_part *part, size_t start)
{
    size_t rest = part->length - start;
    struct tarragon_part *sizes = tarragon_part("messages");
    if (!sizes || (size_t)session()->sized >= sizes->capacity)
        return rest;
    int number = session()->sized++;
    size_t size = sizes->bytes[number];
    if (__tarragon_asks_size)
        __tarragon_asks_size(sizes->place + (size_t)number, part->place, start);
    return size == 0 || size > rest ? rest : size;
}

/* Sends a message that no read takes together with the next one. */
TARRAGON_OWN static void send_message(int socket, const unsigned char *bytes, size_t size)
{
    static int marker = -1;
    char space[CMSG_SPACE(sizeof marker)] = "";
    struct iovec piece = { .iov_base = (void *)bytes, .iov_len = size };
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    if (marker < 0)
        marker = put_away((int)syscall(SYS_memfd_create, "message", MFD_CLOEXEC));
    struct cmsghdr *mark = CMSG_FIRSTHDR(&message);
    *mark = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof marker)};
    memcpy(CMSG_DATA(mark), &marker, sizeof marker);
    syscall(SYS_sendmsg, socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* All that the connection sends, and its end. */
TARRAGON_OWN static void deliver(int descriptor, const struct tarragon_part *part)
{
    session()->taken++;
    tarragon_delivers(descriptor, part);
    size_t done = 0, rest, size;
    do {
        rest = part->length - done;
        size = next_size(part, done);
        if (size < rest)
            send_message(other(descriptor), part->bytes + done, size);
        else if (size > 0)
            syscall(SYS_sendto, other(descriptor), part->bytes + done, size,
                    MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
        done += size;
    } while (size < rest);
    shutdown(other(descriptor), SHUT_WR);
}

/* A part is one datagram. */
TARRAGON_OWN static void deliver_datagram(int descriptor, const struct tarragon_part *part)
{
    session()->taken++;
    tarragon_delivers(descriptor, part);
    syscall(SYS_sendto, other(descriptor), part->bytes, part->length, MSG_DONTWAIT | MSG_NOSIGNAL,
            0, 0);
}

TARRAGON_OWN static int is_empty(int descriptor)
{
    char first;
    return syscall(SYS_recvfrom, descriptor, &first, 1, MSG_PEEK | MSG_DONTWAIT, 0, 0) < 0;
}

/* Sockets of datagrams get the next one once they have given theirs away; answers are thrown away.
 */
TARRAGON_OWN static void attend(int descriptor)
{
    struct known *it = known(descriptor);
    if (!it || it->listens)
        return;
    drain(descriptor);
    struct tarragon_part *part = is_stream(descriptor) ? NULL : next_connection();
    if (part && is_bound(descriptor) && is_empty(descriptor))
        deliver_datagram(descriptor, part);
}

TARRAGON_OWN static void attend_all(void)
{
    for (int i = 0; i < used; i++)
        if (sockets[i].other)
            attend(number_of(&sockets[i]));
}

/* Nothing is left to be waited for. */
TARRAGON_OWN static void finish(void)
{
    settle();
    exit(0);
}

TARRAGON_OWN int socket(int domain, int type, int protocol)
{
    return pair(type);
}

TARRAGON_OWN int bind(int descriptor, const struct sockaddr *address, socklen_t size)
{
    if (!other(descriptor))
        return (int)syscall(SYS_bind, descriptor, address, size);
    note_bound(descriptor);
    attend(descriptor);
    return 0;
}

/* Threads that have taken a connection are done with it, or wait, before there is the next: so a
 * run is the same each time. */
TARRAGON_OWN static int take_connection(int descriptor, struct sockaddr *address, socklen_t *size,
                                        int flags)
{
    char ready;
    if (!other(descriptor))
        return (int)syscall(SYS_accept4, descriptor, address, size, flags);
    attend_all();
    if (session()->taken > 0 && is_blocking(descriptor))
        settle();
    static int is_held;
    lock(&is_held);
    struct tarragon_part *part = next_connection();
    int connection = part ? pair(SOCK_STREAM | flags) : -1;
    if (connection >= 0)
        deliver(connection, part);
    unlock(&is_held);
    if (!part && is_blocking(descriptor))
        finish();
    if (!part)
        errno = EAGAIN;
    if (connection < 0)
        return -1;
    if (!next_connection())
        syscall(SYS_recvfrom, descriptor, &ready, 1, MSG_DONTWAIT, 0, 0);
    tell(address, size);
    return connection;
}

TARRAGON_OWN int accept4(int descriptor, struct sockaddr *address, socklen_t *size, int flags)
{
    return take_connection(descriptor, address, size, flags);
}

TARRAGON_OWN int accept(int descriptor, struct sockaddr *address, socklen_t *size)
{
    return take_connection(descriptor, address, size, 0);
}

/* A client talks to one server after the other. */
TARRAGON_OWN int connect(int descriptor, const struct sockaddr *address, socklen_t size)
{
    if (!other(descriptor))
        return (int)syscall(SYS_connect, descriptor, address, size);
    note_bound(descriptor);
    struct tarragon_part *part = next_connection();
    if (!is_stream(descriptor))
        return attend(descriptor), 0;
    if (!part)
        return errno = ECONNREFUSED, -1;
    return deliver(descriptor, part), 0;
}

/* Before a read that may wait. The read itself is the program's, so that its labels are. */
TARRAGON_OWN static void before_receive(int descriptor, int flags)
{
    attend(descriptor);
    int waits = !(flags & MSG_DONTWAIT) && is_bound(descriptor) && is_blocking(descriptor);
    if (waits && !is_stream(descriptor) && is_empty(descriptor))
        finish();
}

/* Not what came: its size has a label, which no call here takes. */
TARRAGON_OWN static void tell_sender(struct sockaddr *address, socklen_t *size)
{
    tell(address, size);
}

ssize_t ANSWER(read)(int descriptor, void *to, size_t size)
{
    before_receive(descriptor, 0);
    return read(descriptor, to, size);
}

ssize_t readv(int descriptor, const struct iovec *pieces, int count)
{
    before_receive(descriptor, 0);
    return readv(descriptor, pieces, count);
}

/* Who wants all gets it in as many messages as it takes: only the end of a connection is short. */
static ssize_t receive_all(int descriptor, unsigned char *to, size_t size, int flags)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = recv(descriptor, to + done, size - done, flags & ~MSG_WAITALL);
        if (got <= 0)
            return done == 0 ? got : (ssize_t)done;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

TARRAGON_OWN static int takes_all(int descriptor, int flags)
{
    return flags & MSG_WAITALL && !(flags & (MSG_PEEK | MSG_DONTWAIT)) && other(descriptor)
        && is_stream(descriptor) && is_blocking(descriptor);
}

ssize_t recvfrom(int descriptor, void *to, size_t size, int flags, struct sockaddr *from,
                 socklen_t *from_size)
{
    before_receive(descriptor, flags);
    tell_sender(from, from_size);
    if (takes_all(descriptor, flags))
        return receive_all(descriptor, to, size, flags);
    return recvfrom(descriptor, to, size, flags, NULL, NULL);
}

ssize_t recv(int descriptor, void *to, size_t size, int flags)
{
    before_receive(descriptor, flags);
    if (takes_all(descriptor, flags))
        return receive_all(descriptor, to, size, flags);
    return recv(descriptor, to, size, flags);
}

/* What marks the end of a message is not the program's. Datagrams have no marks. */
TARRAGON_OWN static void take_markers(int descriptor, struct msghdr *message)
{
    if (!other(descriptor) || !is_stream(descriptor))
        return;
    for (struct cmsghdr *mark = CMSG_FIRSTHDR(message); mark; mark = CMSG_NXTHDR(message, mark))
        if (mark->cmsg_level == SOL_SOCKET && mark->cmsg_type == SCM_RIGHTS)
            close(*(int *)CMSG_DATA(mark));
    message->msg_controllen = 0;
    message->msg_flags &= ~MSG_CTRUNC;
}

ssize_t recvmsg(int descriptor, struct msghdr *message, int flags)
{
    before_receive(descriptor, flags);
    ssize_t got = recvmsg(descriptor, message, flags);
    if (got >= 0)
        take_markers(descriptor, message);
    return got;
}

/* How much there is to be read says how long a connection or a file is, which is no expression
 * here. */
TARRAGON_OWN int ioctl(int descriptor, unsigned long request, ...)
{
    va_list more;
    va_start(more, request);
    void *argument = va_arg(more, void *);
    va_end(more);
    if (request == FIONREAD && __tarragon_undecided)
        __tarragon_undecided();
    return (int)syscall(SYS_ioctl, descriptor, request, argument);
}

/* Whether children are there that have not ended. */
TARRAGON_OWN static int has_children(void)
{
    siginfo_t info = {0};
    long failed = syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT, 0);
    return failed == 0 && info.si_pid == 0;
}

TARRAGON_OWN static int has_timer(void)
{
    struct itimerval timer = {0};
    char others[16];
    getitimer(ITIMER_REAL, &timer);
    return timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0
        || read_all("/proc/self/timers", others, sizeof others) > 0;
}

TARRAGON_OWN static int milliseconds(const struct timespec *time)
{
    if (!time || time->tv_sec > INT_MAX / 1000 - 1)
        return -1;
    return (int)(time->tv_sec * 1000 + (time->tv_nsec + 999999) / 1000000);
}

/* A timer that is a descriptor, and what it will do. */
struct timer {
    int descriptor;
    struct itimerspec when;
};

/* The timer among descriptors that is due first; -1 if there is none. */
TARRAGON_OWN static struct timer next_timer(void)
{
    struct timer first = {.descriptor = -1};
    for (int descriptor = 0; descriptor < AWAY; descriptor++) {
        struct timer timer = {.descriptor = descriptor};
        if (syscall(SYS_timerfd_gettime, descriptor, &timer.when))
            continue;
        struct timespec due = timer.when.it_value, least = first.when.it_value;
        int is_sooner = due.tv_sec < least.tv_sec
            || (due.tv_sec == least.tv_sec && due.tv_nsec < least.tv_nsec);
        if ((due.tv_sec || due.tv_nsec) && (first.descriptor < 0 || is_sooner))
            first = timer;
    }
    return first;
}

TARRAGON_OWN static void fire(struct timer timer)
{
    struct pollfd fired = {.fd = timer.descriptor, .events = POLLIN};
    timer.when.it_value = (struct timespec){.tv_nsec = 1};
    syscall(SYS_timerfd_settime, timer.descriptor, 0, &timer.when, NULL);
    syscall(SYS_poll, &fired, 1, -1);
}

/* The program would go on: with what a timer or a child does, or with further timeouts. */
TARRAGON_OWN static void finish_early(void)
{
    if (__tarragon_undecided)
        __tarragon_undecided();
    exit(0);
}

/* How long the kernel is asked to wait where nothing of the input can come any more: as long as
 * children may have something to say. */
enum { CHILD_MS = 20, CHILD_WAITS = 10 };

TARRAGON_OWN static int patience(void)
{
    return has_children() ? CHILD_MS : 0;
}

/* Nothing was ready: whether to look again. Where nobody else is left who could change that, the
 * time passes, or the program would wait for ever. */
TARRAGON_OWN static int goes_on(int *looked, int timeout)
{
    static int timeouts;
    attend_all();
    if (!(*looked)++ || settle() || (has_children() && *looked < CHILD_WAITS))
        return 1;
    struct timer timer = next_timer();
    int has_alarm = timer.descriptor >= 0;
    if ((timeout >= 0 || has_alarm) && timeouts++ < TIMEOUTS) {
        int is_first = has_alarm && (timeout < 0 || milliseconds(&timer.when.it_value) <= timeout);
        if (is_first)
            fire(timer);
        return is_first;
    }
    if (timeout >= 0 || has_alarm || has_timer() || has_children())
        finish_early();
    exit(0);
}

/* Whether the program has to do with connections at all. */
TARRAGON_OWN static int decides(void)
{
    return session()->taken > 0;
}

TARRAGON_OWN int poll(struct pollfd *entries, nfds_t count, int timeout)
{
    int ready, looked = 0;
    attend_all();
    do
        ready = (int)syscall(SYS_poll, entries, count, decides() ? patience() : timeout);
    while (ready == 0 && timeout != 0 && decides() && goes_on(&looked, timeout));
    return ready;
}

TARRAGON_OWN int ppoll(struct pollfd *entries, nfds_t count, const struct timespec *timeout,
                       const sigset_t *mask)
{
    int ready, looked = 0;
    struct timespec wait = {0, patience() * 1000000L}, all = timeout ? *timeout : wait;
    attend_all();
    do
        ready = (int)syscall(SYS_ppoll, entries, count,
                             decides() ? &wait
                             : timeout ? &all
                                       : NULL,
                             mask, 8);
    while (ready == 0 && milliseconds(timeout) != 0 && decides() &&
           goes_on(&looked, milliseconds(timeout)));
    return ready;
}

/* Sets of descriptors, which a call that finds none ready empties. They are as large as the number
 * of descriptors says: programs make smaller ones, and larger ones. */
enum { ROOM = 8 * 1024 };
struct sets {
    fd_set *of[3];
    long copies[3][ROOM / 8 / sizeof(long)];
};

TARRAGON_OWN static void keep_sets(struct sets *sets, int count, int put_back)
{
    size_t words = count > 0 ? ((size_t)count + 63) / 64 : 0;
    if (words > ROOM / 64)
        return;
    for (int i = 0; i < 3; i++)
        for (size_t word = 0; sets->of[i] && word < words; word++) {
            long *own = (long *)sets->of[i] + word, *copy = &sets->copies[i][word];
            *(put_back ? own : copy) = *(put_back ? copy : own);
        }
}

TARRAGON_OWN static int selected(int count, struct sets *sets, const struct timespec *timeout,
                                 const sigset_t *mask)
{
    int ready, looked = 0, limit = milliseconds(timeout);
    struct timespec wait = {0, patience() * 1000000L}, all = timeout ? *timeout : wait;
    struct { const sigset_t *mask; size_t size; } masked = { mask, 8 };
    keep_sets(sets, count, 0);
    attend_all();
    do {
        keep_sets(sets, count, 1);
        struct timespec *time = decides() ? &wait : timeout ? &all : NULL;
        ready =
            (int)syscall(SYS_pselect6, count, sets->of[0], sets->of[1], sets->of[2], time, &masked);
    } while (ready == 0 && limit != 0 && decides() && goes_on(&looked, limit));
    return ready;
}

TARRAGON_OWN int pselect(int count, fd_set *reads, fd_set *writes, fd_set *others_,
                         const struct timespec *timeout, const sigset_t *mask)
{
    struct sets sets = { .of = { reads, writes, others_ } };
    return selected(count, &sets, timeout, mask);
}

TARRAGON_OWN int select(int count, fd_set *reads, fd_set *writes, fd_set *others_,
                        struct timeval *timeout)
{
    struct sets sets = { .of = { reads, writes, others_ } };
    struct timespec time = { 0, 0 };
    if (timeout)
        time = (struct timespec){ timeout->tv_sec, timeout->tv_usec * 1000 };
    return selected(count, &sets, timeout ? &time : NULL, NULL);
}

TARRAGON_OWN static int wait_for(int set, struct epoll_event *events, int count, int timeout,
                                 const sigset_t *mask)
{
    int ready, looked = 0;
    attend_all();
    do
        ready = (int)syscall(SYS_epoll_pwait, set, events, count, decides() ? patience() : timeout,
                             mask, 8);
    while (ready == 0 && timeout != 0 && decides() && goes_on(&looked, timeout));
    return ready;
}

TARRAGON_OWN int epoll_pwait(int set, struct epoll_event *events, int count, int timeout,
                             const sigset_t *mask)
{
    return wait_for(set, events, count, timeout, mask);
}

TARRAGON_OWN int epoll_wait(int set, struct epoll_event *events, int count, int timeout)
{
    return wait_for(set, events, count, timeout, NULL);
}
