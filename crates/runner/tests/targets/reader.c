// Does what its input says (a word and a name), and exits with 0 if that worked, or with the number of the error.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *tarragon_test_serve(void);

static int create(const char *name) {
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    return file < 0 || write(file, "x", 1) != 1 ? errno : 0;
}

static int act(const char *what, const char *name) {
    if (strcmp(what, "read") == 0) return open(name, O_RDONLY) < 0 ? errno : 0;
    if (strcmp(what, "create") == 0) return create(name);
    if (strcmp(what, "variable") == 0) return getenv(name) ? 0 : ENOENT;
    if (strcmp(what, "semaphore") == 0) return sem_open(name, O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED ? errno : 0;
    if (strcmp(what, "tmpfile") == 0) return tmpfile() ? 0 : errno;
    return 255;
}

int main(void) {
    char what[32] = "", name[512] = "";
    tarragon_test_serve();
    if (scanf("%31s %511s", what, name) < 1) return 254;
    return act(what, name);
}
