// Code without bitcode calls the program back, by address or by name, which leaves input where that code looks.
//@ native: native/caller.c
//@ exhaustive: max-len=2 paths=2 incomplete
//@ seed: "xx"
//@ gives-up: function without a model
//@ gives-up: input read by code that is not followed
//@ lost-through: calls_by_name
//@ lost-through: lends_by_name
//@ lost-through: hands_out
//@ lost-through: kept
//@ lost-through: takes_struct
//@ lost-through: takes_pointer
//@ lost-through: reads_before
//@ lost-through: ftw
#include <ftw.h>
#include <unistd.h>

struct large { int numbers[10]; };

int calls_by_name(void);
int lends_by_name(void);
int hands_out(void (*call)(int *));
int kept(void (*call)(void), int *number);
int takes_struct(struct large (*call)(void));
int takes_pointer(char *(*call)(void));
int reads_before(void (*call)(void));

static unsigned char byte;
static int number;
static char text[4];

int shows(void) { return byte; }
void fills(char *to) { *to = byte; }

static void store(int *to) { *to = byte; }
static void store_variable(void) { number = byte; }
static struct large in_struct(void) { return (struct large){{0, 0, 0, byte}}; }
static char *by_pointer(void) { text[0] = byte; return text; }
static void seek(void) { lseek(1, 0, SEEK_CUR); }

__attribute__((noinline)) static int last(const char *path, const struct stat *status, int type)
{
    return byte;
}

static int first(const char *path, const struct stat *status, int type)
{
    __attribute__((musttail)) return last(path, status, type);
}

int main(void)
{
    if (read(0, &byte, 1) != 1)
        return 1;
    int found = calls_by_name() | lends_by_name() << 1 | hands_out(store) << 2;
    found |= kept(store_variable, &number) << 3 | takes_struct(in_struct) << 4;
    found |= takes_pointer(by_pointer) << 5 | reads_before(seek) << 6;
    return found | ftw(".", first, 3) << 7;
}
