/* Sockets of variants that run under Tarragon: whoever connects, or is connected to, sends the
 * input. The program never reaches a network. A server that waits for a second connection, or for a
 * second datagram, has done its work and ends. */
#include <stdlib.h>
#include <sys/uio.h>

enum { MOST = 1 << 20 };

/* In the traced variant: bytes that come from this descriptor are the input's. */
__attribute__((weak)) void __tarragon_connected(int descriptor);

static int delivered;

OWN static int on(void)
{
    static int known;
    if (known == 0)
        known = getenv("TARRAGON_CONNECTION") ? 1 : -1;
    return known > 0;
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

OWN int socket(int domain, int type, int protocol)
{
    return on() ? pair(type) : (int)syscall(SYS_socket, domain, type, protocol);
}

OWN int bind(int descriptor, const struct sockaddr *address, socklen_t size)
{
    if (!other(descriptor))
        return (int)syscall(SYS_bind, descriptor, address, size);
    if (!is_stream(descriptor) && !delivered)
        deliver(descriptor);
    return 0;
}

OWN int accept4(int descriptor, struct sockaddr *address, socklen_t *size, int flags)
{
    if (!other(descriptor))
        return (int)syscall(SYS_accept4, descriptor, address, size, flags);
    if (delivered) {
        settle();
        exit(0);
    }
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
/* A server may get its connection as the standard input, where the input is a file. */
OWN static int is_input(int descriptor)
{
    struct stat given, file;
    int error = errno;
    int are_open = !syscall(SYS_fstat, 0, &given) && !syscall(SYS_fstat, descriptor, &file);
    errno = error;
    return on() && are_open && S_ISREG(file.st_mode) && file.st_dev == given.st_dev
        && file.st_ino == given.st_ino;
}

OWN ssize_t recvfrom(int descriptor, void *to, size_t size, int flags, struct sockaddr *from,
                     socklen_t *from_size)
{
    __tarragon_before_receive(descriptor);
    if (!other(descriptor)) {
        ssize_t got = syscall(SYS_recvfrom, descriptor, to, size, flags, from, from_size);
        return got < 0 && errno == ENOTSOCK && is_input(descriptor) ? read(descriptor, to, size)
                                                                    : got;
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
        return got < 0 && errno == ENOTSOCK && is_input(descriptor)
                   ? readv(descriptor, message->msg_iov, message->msg_iovlen)
                   : got;
    return got;
}
#endif
