/* Sockets that are not the network's: every socket is one end of a pair, so that reading, writing,
 * polling and closing are the kernel's. Whoever is at the other end sends input, and is not
 * interested in answers. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef OWN
#define OWN __attribute__((section(".text.tarragon"), noinline))
#endif

enum { SOCKETS = 1024, AWAY = 120, BUFFER = 1 << 22, PORT = 40000 };

/* The other end of each socket, or 0. */
static int others[SOCKETS];
/* Sockets that wait for connections, and those that have an address. */
static unsigned char listeners[SOCKETS], bound[SOCKETS];

/* Out of the way, so that the program gets the numbers that it would get; below those of the
 * runtime, so that what is left open when a process begins again is closed. */
OWN static int put_away(int descriptor)
{
    int away = fcntl(descriptor, F_DUPFD_CLOEXEC, AWAY);
    close(descriptor);
    return away;
}

OWN static int other(int descriptor)
{
    return descriptor >= 0 && descriptor < SOCKETS ? others[descriptor] : 0;
}

OWN static int pair(int type)
{
    int ends[2];
    int kind = (type & 15) == SOCK_STREAM ? SOCK_STREAM : SOCK_SEQPACKET;
    if (syscall(SYS_socketpair, AF_UNIX, kind | (type & ~15), 0, ends))
        return -1;
    int size = BUFFER;
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    int away = put_away(ends[1]);
    if (away < 0 || ends[0] >= SOCKETS) {
        close(ends[0]);
        errno = EMFILE;
        return -1;
    }
    if (others[ends[0]])
        close(others[ends[0]]);
    listeners[ends[0]] = bound[ends[0]] = 0;
    others[ends[0]] = away;
    return ends[0];
}

OWN static void note_bound(int descriptor)
{
    bound[descriptor] = 1;
}

OWN static int is_bound(int descriptor)
{
    return other(descriptor) && bound[descriptor];
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
    if (!other(descriptor))
        return (int)syscall(SYS_listen, descriptor, backlog);
    listeners[descriptor] = 1;
    return syscall(SYS_sendto, other(descriptor), "", 1, MSG_DONTWAIT, 0, 0) == 1 ? 0 : -1;
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
    while (syscall(SYS_recvfrom, other(descriptor), scrap, sizeof scrap, MSG_DONTWAIT, 0, 0) > 0)
        ;
}
