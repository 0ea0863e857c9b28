// Names and modes that the input has a say in stand for what the model does not know.
//@ flags: -D_GNU_SOURCE
//@ exhaustive: max-len=2 paths=9 incomplete
//@ gives-up: library call beyond its model
//@ seed: ""
//@ seed: "ax"
//@ seed: "bx"
//@ seed: "cx"
//@ seed: "dx"
//@ seed: "ex"
//@ seed: "fx"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
    char in[3] = {0};
    struct stat status;
    if (read(0, in, 2) != 2)
        return 1;
    switch (in[0]) {
    case 'a':
        return stat(in + 1, &status) == 0;
    case 'b':
        return lstat(in + 1, &status) == 0;
    case 'c':
        return fstatat(AT_FDCWD, in + 1, &status, 0) == 0;
    case 'd':
        return fopen("/dev/null", in + 1) != 0;
    case 'e':
        return freopen("/dev/null", in + 1, stderr) != 0;
    case 'f':
        return fdopen(2, in + 1) != 0;
    }
    return 2;
}
