/* Sockets that are not the network's: every socket is one end of a pair, so that reading, writing,
 * polling and closing are the kernel's. Whoever is at the other end sends input, and is not
 * interested in answers. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef OWN
#define OWN __attribute__((section(".text.tarragon"), noinline))
#endif

enum { SOCKETS = 1024, AWAY = 120, BUFFER = 1 << 22, PORT = 40000 };

/* A socket of the program's, by what the kernel knows it by: a copy of it has another number, and
 * its number may come to mean another file. */
struct known {
    ino_t inode;
    /* The other end; 0 if nothing is known here. */
    int other;
    /* Its number when it was last used. */
    int descriptor;
    /* Whether it waits for connections, and whether it has an address. */
    unsigned char listens, is_bound;
};
static struct known sockets[SOCKETS];
/* How many of them have been in use. */
static int used;

/* Threads may make sockets and take connections at the same time. */
OWN static void lock(int *is_held)
{
    while (__atomic_exchange_n(is_held, 1, __ATOMIC_ACQUIRE))
        syscall(SYS_sched_yield);
}

OWN static void unlock(int *is_held)
{
    __atomic_store_n(is_held, 0, __ATOMIC_RELEASE);
}

/* Out of the way, so that the program gets the numbers that it would get; below those of the
 * runtime, so that what is left open when a process begins again is closed. */
OWN static int put_away(int descriptor)
{
    int away = fcntl(descriptor, F_DUPFD_CLOEXEC, AWAY);
    close(descriptor);
    return away;
}

OWN static struct known *known(int descriptor)
{
    struct stat file;
    if (used == 0 || syscall(SYS_fstat, descriptor, &file) || !S_ISSOCK(file.st_mode))
        return NULL;
    for (struct known *it = sockets; it < sockets + used; it++)
        if (it->other && it->inode == file.st_ino) {
            it->descriptor = descriptor;
            return it;
        }
    return NULL;
}

/* The other end of a socket; 0 if the descriptor is none of ours. */
OWN static int other(int descriptor)
{
    struct known *it = known(descriptor);
    return it ? it->other : 0;
}

/* A number that the socket has now; -1 if the program has closed it, which is forgotten then.
 * Copies have small numbers. */
OWN static int number_of(struct known *it)
{
    if (known(it->descriptor) == it)
        return it->descriptor;
    for (int descriptor = 0; descriptor < AWAY; descriptor++)
        if (known(descriptor) == it)
            return descriptor;
    close(it->other);
    it->other = 0;
    return -1;
}

/* Room for another one. */
OWN static struct known *unused(void)
{
    for (struct known *it = sockets; it < sockets + used; it++)
        if (!it->other || number_of(it) < 0)
            return it;
    return used == SOCKETS ? NULL : &sockets[used++];
}

OWN static int pair_alone(int type)
{
    int ends[2];
    struct stat file;
    struct known *it = unused();
    int kind = (type & 15) == SOCK_STREAM ? SOCK_STREAM : SOCK_SEQPACKET;
    if (!it || syscall(SYS_socketpair, AF_UNIX, kind | (type & ~15), 0, ends)) {
        errno = EMFILE;
        return -1;
    }
    int size = BUFFER;
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    int away = put_away(ends[1]);
    if (away < 0 || ends[0] >= SOCKETS || syscall(SYS_fstat, ends[0], &file)) {
        close(ends[0]);
        if (away >= 0)
            close(away);
        errno = EMFILE;
        return -1;
    }
    *it = (struct known){ .inode = file.st_ino, .other = away, .descriptor = ends[0] };
    return ends[0];
}

OWN static int pair(int type)
{
    static int is_held;
    lock(&is_held);
    int made = pair_alone(type);
    unlock(&is_held);
    return made;
}

OWN static void note_bound(int descriptor)
{
    struct known *it = known(descriptor);
    if (it)
        it->is_bound = 1;
}

OWN static int is_bound(int descriptor)
{
    struct known *it = known(descriptor);
    return it && it->is_bound;
}

OWN static int is_blocking(int descriptor)
{
    return !(syscall(SYS_fcntl, descriptor, F_GETFL) & O_NONBLOCK);
}

OWN static void tell(struct sockaddr *address, socklen_t *size)
{
    struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(PORT) };
    peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!address || !size)
        return;
    memcpy(address, &peer, *size < sizeof peer ? *size : sizeof peer);
    *size = sizeof peer;
}

OWN static int is_stream(int descriptor)
{
    int type = 0;
    socklen_t size = sizeof type;
    syscall(SYS_getsockopt, descriptor, SOL_SOCKET, SO_TYPE, &type, &size);
    return type == SOCK_STREAM;
}

/* Somebody waits already, so that the socket is ready to be read. */
OWN int listen(int descriptor, int backlog)
{
    struct known *it = known(descriptor);
    if (!it)
        return (int)syscall(SYS_listen, descriptor, backlog);
    it->listens = 1;
    return syscall(SYS_sendto, it->other, "", 1, MSG_DONTWAIT, 0, 0) == 1 ? 0 : -1;
}

/* Options of the network's protocols mean nothing here. */
OWN int setsockopt(int descriptor, int level, int option, const void *value, socklen_t size)
{
    int result = (int)syscall(SYS_setsockopt, descriptor, level, option, value, size);
    return other(descriptor) ? 0 : result;
}

/* As the program asked for its socket, not as it is. */
OWN int getsockopt(int descriptor, int level, int option, void *value, socklen_t *size)
{
    int result = (int)syscall(SYS_getsockopt, descriptor, level, option, value, size);
    if (!other(descriptor) || *size < sizeof(int))
        return result;
    if (level == SOL_SOCKET && option == SO_TYPE && *(int *)value == SOCK_SEQPACKET)
        *(int *)value = SOCK_DGRAM;
    if (level == SOL_SOCKET && option == SO_DOMAIN)
        *(int *)value = AF_INET;
    if (level == SOL_SOCKET || result == 0)
        return result;
    memset(value, 0, *size);
    return 0;
}

OWN int getpeername(int descriptor, struct sockaddr *address, socklen_t *size)
{
    if (!other(descriptor))
        return (int)syscall(SYS_getpeername, descriptor, address, size);
    tell(address, size);
    return 0;
}

OWN int getsockname(int descriptor, struct sockaddr *address, socklen_t *size)
{
    if (!other(descriptor))
        return (int)syscall(SYS_getsockname, descriptor, address, size);
    tell(address, size);
    return 0;
}

/* What the program wrote is not wanted, but must not fill the socket. */
OWN static void drain(int descriptor)
{
    char scrap[4096];
    int end = other(descriptor);
    while (syscall(SYS_recvfrom, end, scrap, sizeof scrap, MSG_DONTWAIT, 0, 0) > 0)
        ;
}
