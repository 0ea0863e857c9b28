/* Sockets of variants that run under Tarragon: whoever connects, or is connected to, sends the input. The program never
 * reaches a network. A server that waits for a second connection, or for a second datagram, has done its work and ends.
 *
 * Every socket is one end of a pair, so that reading, writing, polling and closing are the kernel's. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define OWN __attribute__((section(".text.tarragon")))

enum { SOCKETS = 1024, AWAY = 300, MOST = 1 << 20, BUFFER = 1 << 22, PORT = 40000 };

/* In the traced variant: bytes that come from this descriptor are the input's. */
__attribute__((weak)) void __tarragon_connected(int descriptor);

/* The other end of each socket, or 0. */
static int others[SOCKETS];
static int delivered;

OWN static int on(void)
{
    static int known;
    if (known == 0)
        known = getenv("TARRAGON_CONNECTION") ? 1 : -1;
    return known > 0;
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
    /* Out of the way: the program gets the numbers that it would get. */
    int away = fcntl(ends[1], F_DUPFD_CLOEXEC, AWAY);
    close(ends[1]);
    if (away < 0 || ends[0] >= SOCKETS) {
        close(ends[0]);
        errno = EMFILE;
        return -1;
    }
    others[ends[0]] = away;
    return ends[0];
}

/* Puts the input, which is on the standard input, into the socket. */
OWN static void deliver(int descriptor)
{
    static char text[MOST];
    long size = syscall(SYS_pread64, 0, text, sizeof text, 0);
    delivered = 1;
    if (size > 0)
        syscall(SYS_sendto, other(descriptor), text, size, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
    shutdown(other(descriptor), SHUT_WR);
    if (__tarragon_connected)
        __tarragon_connected(descriptor);
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

OWN int socket(int domain, int type, int protocol)
{
    return on() ? pair(type) : (int)syscall(SYS_socket, domain, type, protocol);
}

OWN static int is_stream(int descriptor)
{
    int type = 0;
    socklen_t size = sizeof type;
    getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size);
    return type == SOCK_STREAM;
}

OWN int bind(int descriptor, const struct sockaddr *address, socklen_t size)
{
    if (!other(descriptor))
        return (int)syscall(SYS_bind, descriptor, address, size);
    if (!is_stream(descriptor) && !delivered)
        deliver(descriptor);
    return 0;
}

/* Somebody waits already, so that the socket is ready to be read. */
OWN int listen(int descriptor, int backlog)
{
    if (!other(descriptor))
        return (int)syscall(SYS_listen, descriptor, backlog);
    return syscall(SYS_sendto, other(descriptor), "", 1, MSG_DONTWAIT, 0, 0) == 1 ? 0 : -1;
}

OWN int accept4(int descriptor, struct sockaddr *address, socklen_t *size, int flags)
{
    if (!other(descriptor))
        return (int)syscall(SYS_accept4, descriptor, address, size, flags);
    if (delivered)
        exit(0);
    int connection = pair(SOCK_STREAM | flags);
    if (connection >= 0)
        deliver(connection);
    tell(address, size);
    return connection;
}

OWN int accept(int descriptor, struct sockaddr *address, socklen_t *size)
{
    return accept4(descriptor, address, size, 0);
}

OWN int connect(int descriptor, const struct sockaddr *address, socklen_t size)
{
    if (!other(descriptor))
        return (int)syscall(SYS_connect, descriptor, address, size);
    if (delivered) {
        errno = ECONNREFUSED;
        return -1;
    }
    deliver(descriptor);
    return 0;
}

/* Options of the network's protocols mean nothing here. */
OWN int setsockopt(int descriptor, int level, int option, const void *value, socklen_t size)
{
    int result = (int)syscall(SYS_setsockopt, descriptor, level, option, value, size);
    return other(descriptor) ? 0 : result;
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

/* Called before each wait for data; ends a program that waits for a second datagram. */
OWN void __tarragon_before_receive(int descriptor)
{
    char first;
    if (!other(descriptor))
        return;
    drain(descriptor);
    if (!is_stream(descriptor) && delivered
        && syscall(SYS_recvfrom, descriptor, &first, 1, MSG_PEEK | MSG_DONTWAIT, 0, 0) <= 0)
        exit(0);
}

/* The traced variant has models of these, which call the function above. */
#ifndef MODELLED
OWN ssize_t recvfrom(int descriptor, void *to, size_t size, int flags, struct sockaddr *from, socklen_t *from_size)
{
    __tarragon_before_receive(descriptor);
    if (!other(descriptor)) {
        ssize_t got = syscall(SYS_recvfrom, descriptor, to, size, flags, from, from_size);
        return got < 0 && errno == ENOTSOCK && on() ? read(descriptor, to, size) : got;
    }
    tell(from, from_size);
    return syscall(SYS_recvfrom, descriptor, to, size, flags, 0, 0);
}

OWN ssize_t recv(int descriptor, void *to, size_t size, int flags)
{
    return recvfrom(descriptor, to, size, flags, 0, 0);
}

OWN ssize_t recvmsg(int descriptor, struct msghdr *message, int flags)
{
    __tarragon_before_receive(descriptor);
    ssize_t got = syscall(SYS_recvmsg, descriptor, message, flags);
    if (!other(descriptor))
        return got < 0 && errno == ENOTSOCK && on() ? readv(descriptor, message->msg_iov, message->msg_iovlen) : got;
    return got;
}
#endif
