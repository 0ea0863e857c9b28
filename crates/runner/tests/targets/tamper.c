// Tampers with what it shares with its server, as the first byte of its input says.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void *tarragon_test_serve_rewound(void);

enum { SEGMENT = 195, COMMANDS, REPORTS };

static void replace(int descriptor) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0) dup2(pair[0], descriptor);
}

static void write_rubbish(void) {
    char rubbish[300];
    memset(rubbish, 1, sizeof rubbish);
    for (int length = 0; length < 300; length++) send(REPORTS, rubbish, length, MSG_DONTWAIT);
}

// Writes over the first bytes of all memory that is shared with other processes.
static void scribble(int byte) {
    char line[512], permissions[8];
    unsigned long list[16][2], start, end;
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &start, &end, permissions) == 3 && !strcmp(permissions, "rw-s") && count < 16) {
            list[count][0] = start;
            list[count++][1] = end;
        }
    for (int i = 0; i < count; i++) memset((void *)list[i][0], byte, 64);
}

// A report as the server would send it, on every command that it may be about.
static void forge(void) {
    unsigned report[12] = {0x54470002};
    for (unsigned number = 0; number < 40; number++) {
        report[11] = number;
        send(REPORTS, report, sizeof report, MSG_DONTWAIT);
    }
}

int main(void) {
    char what = 0;
    tarragon_test_serve_rewound();
    if (read(0, &what, 1) != 1) return 1;
    switch (what) {
    case 'c': close(SEGMENT); close(COMMANDS); close(REPORTS); break;
    case 'd': replace(REPORTS); break;
    case 'e': replace(COMMANDS); break;
    case 'n': fcntl(COMMANDS, F_SETFL, O_NONBLOCK); fcntl(REPORTS, F_SETFL, O_NONBLOCK); break;
    case 'r': write_rubbish(); break;
    case 's': shutdown(REPORTS, SHUT_RDWR); break;
    case '0': scribble(0); break;
    case '1': scribble(255); break;
    case 'l': scribble(0); for (;;) pause();
    case 'f': forge(); break;
    case 'k': kill(getppid(), SIGKILL); break;
    }
    return 7;
}
