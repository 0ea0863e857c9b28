// The C library keeps memory and functions of the program, and looks there later.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "y"
//@ gives-up: function without a model
//@ lost-through: fmemopen
//@ lost-through: fopencookie
//@ lost-through: putenv
//@ lost-through: hsearch
//@ lost-through: glob
#define _GNU_SOURCE
#include <dirent.h>
#include <glob.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char byte, variable[] = "K=a", key[] = "a", buffer[4];
static int entries;
static struct dirent entry;

static ssize_t give(void *cookie, char *to, size_t size)
{
    *to = byte;
    return 1;
}

static void *opens(const char *path) { return &entries; }
static void closes(void *folder) {}
static int has_status(const char *restrict path, struct stat *restrict status) { return 0; }

static struct dirent *reads(void *folder)
{
    if (entries++)
        return NULL;
    entry.d_ino = 1;
    entry.d_name[0] = byte;
    return &entry;
}

int main(void)
{
    FILE *memory = fmemopen(buffer, 4, "r");
    FILE *cookie = fopencookie(NULL, "r", (cookie_io_functions_t){.read = give});
    putenv(variable);
    hcreate(8);
    hsearch((ENTRY){key, key}, ENTER);
    if (read(0, &byte, 1) != 1)
        return 1;
    buffer[0] = variable[0] = key[0] = byte;
    int found = fgetc(memory) == 'x' || fgetc(cookie) == 'x' || getenv("x");
    glob_t names = {.gl_opendir = opens, .gl_closedir = closes};
    names.gl_readdir = (struct dirent * (*)(void *))reads;
    names.gl_stat = names.gl_lstat = has_status;
    return found || glob("x*", GLOB_ALTDIRFUNC, NULL, &names) == 0 ? 2 : 0;
}
