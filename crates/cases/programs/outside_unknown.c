// Memory whose end nobody knows, with input far from where the pointer leads: arrays of variable size, thread-local ones, mappings, a structure by its address, variable arguments.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "x"
//@ gives-up: function without a model
//@ lost-through: strverscmp
//@ lost-through: fnmatch
//@ lost-through: inet_addr
//@ lost-through: mktime
//@ lost-through: vswprintf
//@ lost-through: mremap
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define APART __attribute__((noinline)) static

volatile int size = 64;
static __thread char own[64];

APART int compares(const char *text) { return strverscmp(text, "aaaa") == 0; }
APART int matches(const char *text) { return fnmatch("aaa*x", text, 0) == 0; }
APART int is_address(const char *text) { return inet_addr(text) == 0; }
APART int is_summer(struct tm *when) { return mktime(when) == 0; }

APART char *fill(char *text, char byte)
{
    memset(text, 'a', 40);
    text[40] = byte;
    text[41] = 0;
    return text;
}

APART int prints(wchar_t *to, const wchar_t *format, ...)
{
    va_list list;
    va_start(list, format);
    int printed = vswprintf(to, 40, format, list);
    va_end(list);
    return printed == 0 || to[4] == L'7';
}

int main(void)
{
    char byte, array[size];
    wchar_t wide[40];
    if (read(0, &byte, 1) != 1)
        return 1;
    int found = compares(fill(array, byte)) || matches(fill(own, byte));
    char *mapped = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    found |= is_address(fill(mapped, byte));
    struct tm when = {.tm_year = 100, .tm_mday = 3, .tm_isdst = byte};
    found |= is_summer(&when) || prints(wide, L"%d %d %d", 1, 2, byte);
    char *moved = mremap(mapped, 4096, 1 << 20, MREMAP_MAYMOVE);
    return found || moved[40] == 'x' ? 2 : 0;
}
