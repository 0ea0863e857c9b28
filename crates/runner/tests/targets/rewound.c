// Makes a mess of its process, as the first line of the input says, after printing what it finds there. Says on
// stderr which process it is, and exits with the number of the second line.
#define _GNU_SOURCE
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void *tarragon_test_serve_rewound(void);
void tarragon_test_cover(void *header, size_t outcome);
void tarragon_test_event(void *header);

static int data = 7, zero[3000];
static char *kept;
static volatile int zero_divisor;
static char *volatile null;

static void leave(int signal) { _exit(signal); }

static void report_end(void) { printf("end %d\n", data); }

// What the kernel gives is zero, and a program that forgets to initialise its memory sees that. The compiler must not know who allocates.
static void *(*volatile allocate)(size_t) = malloc;

static int dirty_bytes(void) {
    volatile char *fresh = allocate(100000);
    int dirty = 0;
    for (int i = 0; i < 100000; i++) dirty += fresh[i] != 0;
    free((char *)fresh);
    return dirty;
}

static int free_descriptor(void) {
    int fd = dup(0);
    close(fd);
    return fd;
}

static void look(const char *line, volatile int *local) {
    char text[] = "a b";
    volatile double one = 1, three = 3;
    sigset_t signals;
    sigprocmask(SIG_SETMASK, NULL, &signals);
    printf("%s: %d %d %d %d %d %.20f %s %d %d %d ", line, data, zero[2999], *local, dirty_bytes(), fegetround(), one / three,
           getenv("MESS") ? "set" : "unset", sigismember(&signals, SIGUSR1), rand(), free_descriptor());
    printf("%p %s %u\n", malloc(1), strtok(text, " "), alarm(0));
}

static void mess(const char *line) {
    sigset_t signals;
    sigfillset(&signals);
    if (strcmp(line, "data") == 0) { data = 9; memset(zero, 1, sizeof zero); }
    if (strcmp(line, "heap") == 0) for (int i = 0; i < 1000; i++) memset(kept = malloc(500), 1, 500);
    if (strcmp(line, "large") == 0) for (int i = 0; i < 50; i++) memset(kept = malloc(100000), 1, 100000);
    if (strcmp(line, "mapped") == 0) memset(kept = malloc(1 << 20), 1, 1 << 20);
    if (strcmp(line, "environment") == 0) { setenv("MESS", "1", 1); srand(5); }
    if (strcmp(line, "rounding") == 0) fesetround(FE_UPWARD);
    if (strcmp(line, "signals") == 0) sigprocmask(SIG_BLOCK, &signals, NULL);
    if (strcmp(line, "open") == 0) for (int i = 0; i < 20; i++) open("/dev/null", O_RDONLY);
    if (strcmp(line, "alarm") == 0) alarm(1000);
    if (strcmp(line, "at exit") == 0) atexit(report_end);
    if (strcmp(line, "close") == 0) fclose(stdin);
    if (strcmp(line, "reopen") == 0) { freopen("/dev/zero", "r", stdin); freopen("/dev/null", "w", stdout); }
    if (strcmp(line, "child") == 0 && fork() == 0) for (;;) pause();
    if (strcmp(line, "abort") == 0) { memset(zero, 1, sizeof zero); abort(); }
    if (strcmp(line, "divide") == 0) { memset(zero, 1, sizeof zero); data /= zero_divisor; }
    if (strcmp(line, "trap") == 0) __builtin_trap();
    if (strcmp(line, "abort of a child") == 0) {
        pid_t child = fork();
        int status;
        if (child == 0) abort();
        waitpid(child, &status, 0);
        printf("%d\n", WTERMSIG(status));
    }
    if (strcmp(line, "handler") == 0) { signal(SIGABRT, leave); abort(); }
    if (strcmp(line, "crash") == 0) *null = 1;
    if (strcmp(line, "hang") == 0) for (;;) pause();
    if (strcmp(line, "quick") == 0) { fflush(NULL); _exit(4); }
}

int main(void) {
    volatile int local = 3;
    void *header = tarragon_test_serve_rewound();
    char line[64] = "", code[64] = "";
    if (fgets(line, sizeof line, stdin)) line[strcspn(line, "\n")] = 0;
    if (!fgets(code, sizeof code, stdin)) code[0] = 0;
    fprintf(stderr, "%d", (int)getpid());
    tarragon_test_cover(header, strlen(line));
    tarragon_test_event(header);
    look(line, &local);
    local = 4;
    mess(line);
    if (atoi(code) % 2 == 0) exit(atoi(code));
    return atoi(code);
}
