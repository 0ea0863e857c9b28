// Takes one input after the other, each a line whose first word says what to do. Says on stderr which input of its
// process it is.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void *tarragon_test_serve(void);
int tarragon_test_again(void);
void tarragon_test_cover(void *header, size_t outcome);
void tarragon_test_event(void *header);

static void hang(void) { for (;;) pause(); }
static void spin(void) { for (volatile int i = 0;; i++) {} }
static void work(void) { clock_t start = clock(); while (clock() - start < CLOCKS_PER_SEC / 50) {} }

// Writes a word, and the report of a run that exited with 9, to its server's descriptor.
static void lie(void) {
    unsigned report[12] = {0x54470002, 0, 9 << 8};
    if (write(197, "!", 1) != 1 || write(197, report, sizeof report) != sizeof report) abort();
}

static void act(const char *line) {
    if (strcmp(line, "abort") == 0) abort();
    if (strcmp(line, "exit") == 0) exit(3);
    if (strcmp(line, "hang") == 0) hang();
    if (strcmp(line, "spin") == 0) spin();
    if (strcmp(line, "work") == 0) work();
    if (strcmp(line, "child") == 0 && fork() == 0) hang();
    if (strcmp(line, "eat") == 0) {
        char *volatile memory = malloc(100 << 20);
        memset(memory, 1, 100 << 20);
    }
    if (strcmp(line, "close") == 0) close(197);
    if (strcmp(line, "lie") == 0) lie();
}

int main(void) {
    void *header = tarragon_test_serve();
    int round = 0;
    do {
        char line[64] = "";
        round++;
        if (fgets(line, sizeof line, stdin)) line[strcspn(line, "\n")] = 0;
        printf("%s", line);
        fprintf(stderr, "%d %d", round, (int)getpid());
        tarragon_test_cover(header, round);
        tarragon_test_event(header);
        act(line);
    } while (tarragon_test_again());
    return 0;
}
