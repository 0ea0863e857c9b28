// How much was written is seen in a file's size; messages go through structures.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "a"
//@ gives-up: data that went through a file or a pipe
//@ lost-through: write
//@ lost-through: sendmsg
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void)
{
    static char zeros[300];
    unsigned char byte, back = 0;
    struct stat stat;
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    int ends[2], file = open("sized", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || read(0, &byte, 1) != 1)
        return 1;
    write(file, zeros, byte);
    fstat(file, &stat);
    sendmsg(ends[0], &message, 0);
    piece.iov_base = &back;
    recvmsg(ends[1], &message, 0);
    return stat.st_size == 120 || back == 'x';
}
