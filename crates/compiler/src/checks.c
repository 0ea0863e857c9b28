/* Reports of the sanitized variant: about undefined behaviour that AddressSanitizer does not see,
 * and the sanitizers' own. The program goes on after the former, so that a harmless mistake does
 * not hide a worse one. All of them are kept where what the program does to its standard error
 * does not matter. */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OWN __attribute__((section(".text.tarragon")))

enum { MAX_REPORTS = 8 };

void __sanitizer_print_stack_trace(void);
void __tarragon_keep_report(const char *text, size_t length);

/* The sanitizers call this with all that they print. Their own strlen would look for mistakes. */
OWN void __sanitizer_on_print(const char *text)
{
    size_t length = 0;
    while (((const volatile char *)text)[length])
        length++;
    __tarragon_keep_report(text, length);
}

/* What stands around the program tells belongs to the report of the run. */
OWN void __tarragon_reports(const char *text)
{
    __sanitizer_on_print(text);
}

static const char *const kinds[] = {"signed-integer-overflow", "invalid-shift-exponent",
                                    "format-string"};

OWN __attribute__((noinline)) void __tarragon_report(int kind, void *place)
{
    static void *places[MAX_REPORTS];
    static int count;
    static int wanted;
    if (wanted == 0)
        wanted = getenv("TARRAGON_UNDEFINED") ? 1 : -1;
    if (wanted < 0 || count == MAX_REPORTS)
        return;
    for (int i = 0; i < count; i++)
        if (places[i] == place)
            return;
    places[count++] = place;
    char title[96];
    snprintf(title, sizeof title, "==%d==ERROR: Tarragon: %s\n", (int)getpid(), kinds[kind]);
    __sanitizer_on_print(title);
    fflush(stderr);
    dprintf(2, "%s", title);
    __sanitizer_print_stack_trace();
}

/* Inlined at each check, so that it has an address of its own there. */
OWN __attribute__((noinline)) void __tarragon_violated(int kind)
{
    __tarragon_report(kind, __builtin_return_address(0));
}

__attribute__((always_inline)) void __tarragon_undefined(int violated, int kind)
{
    if (__builtin_expect(violated, 0))
        __tarragon_violated(kind);
}

/* Whether the address is in memory that a file gave and nobody writes to. */
OWN static int is_in_constants(struct dl_phdr_info *file, size_t size, void *address)
{
    for (int i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &file->dlpi_phdr[i];
        uintptr_t offset = (uintptr_t)address - file->dlpi_addr - part->p_vaddr;
        if (part->p_type == PT_LOAD && !(part->p_flags & PF_W) && offset < part->p_memsz)
            return 1;
    }
    return 0;
}

/* A format that is no constant and writes to memory. What a wrapper is given may be one. */
OWN __attribute__((noinline)) void __tarragon_format(const char *format)
{
    for (const char *at = format; at && *at; at++) {
        if (*at != '%')
            continue;
        at++;
        while (*at && (*at == '-' || *at == '+' || *at == ' ' || *at == '#' || *at == '\'' ||
                       *at == '*' || *at == '.' || *at == '$' || *at == 'l' || *at == 'h' ||
                       *at == 'z' || *at == 'j' || *at == 't' || (*at >= '0' && *at <= '9')))
            at++;
        if (*at == 'n') {
            if (!dl_iterate_phdr(is_in_constants, (void *)format))
                __tarragon_report(2, __builtin_return_address(0));
            return;
        }
        if (!*at)
            return;
    }
}
