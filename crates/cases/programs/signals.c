// A signal handler that computes on symbolic data.
//@ seed: "0"
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned char byte;
static volatile int result;

static void handle(int number)
{
    result = byte * 2 + number;
}

int main(void)
{
    unsigned char in;
    signal(SIGUSR1, handle);
    if (read(0, &in, 1) != 1)
        return 1;
    byte = in;
    raise(SIGUSR1);
    if (result == 2 * 'k' + SIGUSR1)
        return 2;
    return 0;
}
