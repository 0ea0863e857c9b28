// Messages, and pieces read at a place. The standard input is a file, which a socket's functions refuse without Tarragon.
//@ flags: -D_GNU_SOURCE
//@ max-len: 10
//@ max-runs: 600
//@ random: "abcdefgh"
//@ uncovered: 15, 24, 26, 28
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int refused(ssize_t got)
{
    return got < 0 && errno == ENOTSOCK;
}

int main(void)
{
    char a[2] = "", b[2] = "", c[2] = "", d[2] = "", e[2] = "";
    struct iovec pieces[2] = {{c, 2}, {d, 1}}, placed[2] = {{e, 1}, {e + 1, 1}};
    struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 2 };
    ssize_t received = recv(0, a, 2, 0), from, whole;
    if (refused(received))
        received = read(0, a, 2);
    if (refused(from = recvfrom(0, b, 2, 0, NULL, NULL)))
        from = read(0, b, 2);
    if (refused(whole = recvmsg(0, &message, 0)))
        whole = readv(0, pieces, 2);
    printf("%zd %zd %zd %zd", received, from, whole, preadv(0, placed, 2, 1));
    printf(" %.2s %.2s %.2s %.2s %.2s\n", a, b, c, d, e);
    if (a[1] == 'r' && b[0] == 'e')
        puts("received");
    if (whole == 3 && c[1] == 'm' && d[0] == 's')
        puts("message");
    if (e[0] == 'x' && e[1] == 'y')
        puts("placed");
    return 0;
}
