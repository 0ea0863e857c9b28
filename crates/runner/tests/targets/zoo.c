// One animal for each way to behave. The first word of the input names it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <sched.h>

void *tarragon_test_serve(void);
void tarragon_test_cover(void *header, size_t outcome);
void tarragon_test_event(void *header);

static void *header;

static void hang(void) { for (;;) pause(); }

// 0 if the call worked, otherwise its error number: the exit code of many animals.
static int result(long call) { return call >= 0 ? 0 : errno; }

static int daemon_child(void) {
    if (fork() == 0) { setsid(); if (fork() == 0) hang(); _exit(0); }
    while (wait(NULL) > 0) {}
    return 0;
}

static int bomb(void) {
    int started = 0;
    while (started < 100000) {
        int child = fork();
        if (child == 0) hang();
        if (child < 0) break;
        started++;
    }
    return started < 100000 ? (started < 400 ? 0 : 1) : 2;
}

static int print_without_end(int fd) {
    static char line[65536];
    memset(line, 'x', sizeof line);
    for (;;) if (write(fd, line, sizeof line) < 0) return errno;
}

static int eat_memory(void) {
    for (size_t chunk = 1 << 20;;) {
        char *volatile memory = malloc(chunk);
        if (!memory) return 42;
        memset(memory, 1, chunk);
    }
}

static int fill_scratch(void) {
    char name[32], block[4096] = {0};
    for (int i = 0; i < 100000; i++) {
        sprintf(name, "file%d", i);
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        if (fd < 0) return errno;
        for (int j = 0; j < 256; j++) if (write(fd, block, sizeof block) < 0) return errno;
        close(fd);
    }
    return 0;
}

static int write_file(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    return result(fd < 0 ? fd : write(fd, "x", 1));
}

static int leave_files(void) {
    if (access("left", F_OK) == 0) return 1;  // by an earlier run
    mkdir("left", 0700); mkdir("left/deeper", 0700);
    if (write_file("left/deeper/file")) return 2;
    chmod("left/deeper", 0);  // may be denied
    return 0;
}

static int is_directory_home(void) {
    char here[4096];
    return getcwd(here, sizeof here) && getenv("HOME") && getenv("TMPDIR") && !strcmp(here, getenv("HOME"))
        && !strcmp(here, getenv("TMPDIR")) ? 0 : 1;
}

static int server_descriptors_closed(void) {
    for (int fd = 3; fd < 256; fd++) if (fcntl(fd, F_GETFD) != -1) return 1;
    return getenv("TARRAGON_SERVER") ? 2 : 0;
}

static int rewrite_input(void) {
    int fd = open("/proc/self/fd/0", O_RDWR);
    return result(fd);
}

static void *thread(void *arg) { return arg; }

static int run(const char *word, const char *rest) {
    if (!strcmp(word, "exit")) return atoi(rest);
    if (!strcmp(word, "abort")) abort();
    if (!strcmp(word, "segv")) *(volatile int *)8 = 1;
    if (!strcmp(word, "fpe")) { volatile int zero = 0; return 1000 / zero; }
    if (!strcmp(word, "raise")) return raise(atoi(rest));
    if (!strcmp(word, "hang")) hang();
    if (!strcmp(word, "spin")) for (;;) {}
    if (!strcmp(word, "work")) { while (clock() < atoi(rest) * (CLOCKS_PER_SEC / 1000)) {} return 0; }
    if (!strcmp(word, "stop")) raise(SIGSTOP);
    if (!strcmp(word, "child")) { if (fork() == 0) hang(); return 0; }
    if (!strcmp(word, "daemon")) return daemon_child();
    if (!strcmp(word, "hang-with-child")) { fork(); hang(); }
    if (!strcmp(word, "bomb")) return bomb();
    if (!strcmp(word, "close")) { for (int fd = 0; fd < 1024; fd++) close(fd); return 0; }
    if (!strcmp(word, "print")) return print_without_end(1);
    if (!strcmp(word, "scream")) return print_without_end(2);
    if (!strcmp(word, "say")) { fprintf(stderr, "%s", rest); printf("%s", rest); return 0; }
    if (!strcmp(word, "eat")) return eat_memory();
    if (!strcmp(word, "eat-and-die")) { eat_memory(); abort(); }
    if (!strcmp(word, "fill")) return fill_scratch();
    if (!strcmp(word, "write")) return write_file(rest);
    if (!strcmp(word, "unlink")) return result(unlink(rest));
    if (!strcmp(word, "truncate")) return result(truncate(rest, 0));
    if (!strcmp(word, "chmod")) return result(chmod(rest, 0777));
    if (!strcmp(word, "rename")) return result(rename(rest, "here"));
    if (!strcmp(word, "leave")) return leave_files();
    if (!strcmp(word, "home")) return is_directory_home();
    if (!strcmp(word, "socket")) return result(socket(AF_INET, SOCK_STREAM, 0));
    if (!strcmp(word, "unix-socket")) return result(socket(AF_UNIX, SOCK_STREAM, 0));
    if (!strcmp(word, "socketpair")) { int pair[2]; return result(socketpair(AF_UNIX, SOCK_STREAM, 0, pair)); }
    if (!strcmp(word, "ptrace")) return result(syscall(SYS_ptrace, 0, 0, 0, 0));
    if (!strcmp(word, "unshare")) return result(unshare(CLONE_NEWUSER));
    if (!strcmp(word, "clone-newuser")) return result(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    if (!strcmp(word, "kill-server")) { kill(getppid(), SIGTERM); kill(getppid(), SIGKILL); return 0; }
    if (!strcmp(word, "thread")) { pthread_t t; return pthread_create(&t, 0, thread, 0) || pthread_join(t, 0); }
    if (!strcmp(word, "shell")) return WEXITSTATUS(system(rest));
    if (!strcmp(word, "descriptors")) return server_descriptors_closed();
    if (!strcmp(word, "rewrite-input")) return rewrite_input();
    if (!strcmp(word, "scribble")) { memset(header, 0xff, 4096); return 0; }
    if (!strcmp(word, "counters")) { memset((char *)header + 160, 0x7f, 64); return 0; }
    if (!strcmp(word, "cover")) { tarragon_test_cover(header, atoi(rest)); return 0; }
    return 77;
}

int main(int argc, char **argv) {
    header = tarragon_test_serve();
    static char input[1 << 16];
    FILE *file = argc > 1 ? fopen(argv[argc - 1], "r") : stdin;
    if (!file) return 78;
    size_t len = fread(input, 1, sizeof input - 1, file);
    input[len] = 0;
    if (header) tarragon_test_event(header);
    char *rest = strchr(input, ' ');
    if (rest) *rest++ = 0;
    return run(input, rest ? rest : "");
}
