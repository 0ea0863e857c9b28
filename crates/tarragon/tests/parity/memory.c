/* One function for each kind of error that AddressSanitizer and LeakSanitizer know; the first argument says which. */
#include <sanitizer/asan_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define CASES \
    CASE(heap_read) CASE(heap_write) CASE(heap_underflow) CASE(stack_read) CASE(stack_write) CASE(stack_underflow) \
    CASE(global_read) CASE(global_write) CASE(static_local) CASE(constant_read) \
    CASE(variable_array) CASE(alloca_overflow) CASE(struct_copy) CASE(argument_by_value) \
    CASE(use_after_free) CASE(use_after_realloc) CASE(use_after_return) CASE(use_after_scope) \
    CASE(double_free) CASE(invalid_free) CASE(free_inside) CASE(free_stack) CASE(free_global) CASE(realloc_bad) \
    CASE(usable_size_bad) CASE(calloc_overflow) CASE(reallocarray_overflow) CASE(malloc_huge) CASE(aligned_bad) \
    CASE(memcpy_overlap) CASE(strcpy_overlap) CASE(strcat_overlap) CASE(negative_size) CASE(memcpy_over) \
    CASE(memset_over) CASE(memmove_over) CASE(memcmp_over) CASE(strcpy_over) CASE(strncpy_over) CASE(strcat_over) \
    CASE(strncat_over) CASE(strlen_over) CASE(strdup_over) CASE(strchr_over) CASE(sprintf_global) CASE(sprintf_heap) \
    CASE(snprintf_stack) CASE(vsprintf_stack) CASE(sscanf_stack) CASE(fread_heap) CASE(fgets_stack) CASE(wcscpy_over) CASE(poisoned) \
    CASE(null_read) CASE(wild_write) CASE(jump_null) CASE(stack_exhausted) CASE(abort_called) \
    CASE(leak_direct) CASE(leak_indirect) CASE(all_well)

static volatile int sink;
static volatile int one = 1;
static char *volatile pointer;

static char text8[8] = "abcdefg";
static int numbers[4] = {1, 2, 3, 4};
static const int constants[4] = {1, 2, 3, 4};
static wchar_t wide[4];

struct block { char bytes[24]; };

static void heap_read(void) { char *p = malloc(10); p[0] = 1; sink = p[9 + one]; free(p); }
static void heap_write(void) { int *p = malloc(40); p[9 + one] = 1; sink = p[0]; free(p); }
static void heap_underflow(void) { char *p = malloc(10); sink = p[-one]; free(p); }
static void stack_read(void) { char a[10]; memset(a, 0, sizeof a); pointer = a; sink = pointer[9 + one]; }
static void stack_write(void) { int a[10]; pointer = (char *)a; ((int *)pointer)[9 + one] = 1; sink = a[0]; }
static void stack_underflow(void) { int a[10]; pointer = (char *)a; sink = ((int *)pointer)[-one]; }
static void global_read(void) { pointer = text8; sink = pointer[7 + one]; }
static void global_write(void) { int *p = numbers; pointer = (char *)p; ((int *)pointer)[3 + one] = 7; }
static void static_local(void) { static short local[5]; pointer = (char *)local; ((short *)pointer)[4 + one] = 7; }
static void constant_read(void) { pointer = (char *)constants; sink = ((int *)pointer)[3 + one]; }
static void variable_array(void) { char a[one + 8]; memset(a, 0, sizeof a); pointer = a; sink = pointer[32]; }
static void alloca_overflow(void) { char *a = __builtin_alloca(16); pointer = a; pointer[16 + one] = 1; }
static void struct_copy(void) { struct block *p = malloc(20), b; b = *p; sink = b.bytes[one]; free(p); }
static int by_value(struct block b) { pointer = b.bytes; return pointer[23 + one]; }
static void argument_by_value(void) { struct block b = {{0}}; sink = by_value(b); }
static void use_after_free(void) { char *p = malloc(10); free(p); sink = p[one]; }
static void use_after_realloc(void) { char *p = malloc(10), *q = realloc(p, 1000); pointer = p; sink = pointer[one]; free(q); }
static char *give_local(void) { char local[16]; memset(local, 1, 16); pointer = local; return pointer; }
static void use_after_return(void) { char *p = give_local(); sink = p[one]; }
static void use_after_scope(void) { { int inner = 5; pointer = (char *)&inner; } sink = *(int *)pointer; }
static void double_free(void) { char *p = malloc(10); pointer = p; free(p); free(pointer); }
static void invalid_free(void) { free((void *)(uintptr_t)(0x1000 + one)); }
static void free_inside(void) { char *p = malloc(10); free(p + one); }
static void free_stack(void) { int a[4]; pointer = (char *)a; free(pointer); }
static void free_global(void) { pointer = text8; free(pointer); }
static void realloc_bad(void) { char *p = malloc(10); pointer = p + one; pointer = realloc(pointer, 20); }
size_t malloc_usable_size(void *);
static void usable_size_bad(void) { sink = (int)malloc_usable_size(text8); }
static void calloc_overflow(void) { pointer = calloc(SIZE_MAX / 2 + one, 4); }
static void reallocarray_overflow(void) { pointer = reallocarray(NULL, SIZE_MAX / 2 + one, 4); }
static void malloc_huge(void) { pointer = malloc((size_t)1 << (46 + one)); }
static void aligned_bad(void) { pointer = aligned_alloc(3, 6 * (size_t)one); }
static void memcpy_overlap(void) { char a[20] = "0123456789"; size_t n = 9 + one; memcpy(a, a + one, n); sink = a[0]; }
static void strcpy_overlap(void) { char a[20] = "0123456789"; pointer = a; strcpy(pointer, pointer + one); sink = a[0]; }
static void strcat_overlap(void) { char a[40] = "0123456789"; pointer = a; strcat(pointer, pointer + one); sink = a[0]; }
static void negative_size(void) { char a[20], b[20] = {0}; long n = -(long)one; memmove(a, b, n); sink = a[0]; }
static void memcpy_over(void) { char *p = malloc(9); memcpy(p, "0123456789", 9 + one); free(p); }
static void memset_over(void) { memset(numbers, 0, sizeof numbers + one); }
static void memmove_over(void) { char a[8] = {0}; pointer = a; memmove(pointer, text8, 8 + one); sink = a[0]; }
static void memcmp_over(void) { char *p = malloc(8); memset(p, 'a', 8); sink = memcmp(p, "aaaaaaaaaa", 9 + one); free(p); }
static void strcpy_over(void) { char *p = malloc(8); pointer = "0123456789"; strcpy(p, pointer); free(p); }
static void strncpy_over(void) { char *p = malloc(8); strncpy(p, "0123456789", 9 + one); free(p); }
static void strcat_over(void) { char *p = malloc(12); strcpy(p, "01234"); strcat(p, text8); free(p); }
static void strncat_over(void) { char *p = malloc(12); strcpy(p, "01234"); strncat(p, "0123456789", 8 + one); free(p); }
static void strlen_over(void) { char *p = malloc(8); memset(p, 'a', 8); sink = (int)strlen(p); free(p); }
static void strdup_over(void) { char *p = malloc(8); memset(p, 'a', 8); pointer = strdup(p); free(p); }
static void strchr_over(void) { char *p = malloc(8); memset(p, 'a', 8); sink = strchr(p, 'b') != NULL; free(p); }
static void sprintf_global(void) { sprintf(text8, "%d%s", 1234567 + one, "more"); }
static void sprintf_heap(void) { char *p = malloc(4); sprintf(p, "%d", 12345 + one); free(p); }
static void snprintf_stack(void) { char a[4]; pointer = a; snprintf(pointer, 9 + one, "%s", "0123456789"); sink = a[0]; }
static void print_into(char *to, const char *format, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, format);
    vsprintf(to, format, list);
    __builtin_va_end(list);
}
static void vsprintf_stack(void) { char a[4]; print_into(a, "%d", 12345); sink = a[0]; }
static void sscanf_stack(void) { char a[4]; sscanf("0123456789", "%s", a); sink = a[0]; }
static void fread_heap(void) { char *p = malloc(4); sink = (int)fread(p, 1, 7 + one, stdin); free(p); }
static void fgets_stack(void) { char a[4]; pointer = a; pointer = fgets(pointer, 9 + one, stdin); sink = a[0]; }
static void wcscpy_over(void) { pointer = (char *)L"0123456789"; wcscpy(wide, (wchar_t *)pointer); }
static void poisoned(void) { char *p = malloc(64); ASAN_POISON_MEMORY_REGION(p, 32); sink = p[one]; }
static void null_read(void) { pointer = (char *)(uintptr_t)(one - 1); sink = *pointer; }
static void wild_write(void) { pointer = (char *)(uintptr_t)(one * 64); *pointer = 1; }
static void jump_null(void) { void (*to)(void) = (void (*)(void))(uintptr_t)(one - 1); to(); }
static int deep(int n) { volatile char room[5000]; room[n % 5000] = 1; return n == -1 ? 0 : deep(n + 1) + room[0]; }
static void stack_exhausted(void) { sink = deep(one); }
static void abort_called(void) { abort(); }
static void lose(void) { pointer = malloc(10); pointer = NULL; }
static void leak_direct(void) { lose(); }
static void leak_indirect(void) { char **p = malloc(sizeof *p); *p = malloc(10); pointer = (char *)p; p = NULL; pointer = NULL; }
static void all_well(void) { char *p = malloc(10); strcpy(p, "well"); sink = numbers[3] + text8[7] + p[4]; free(p); }

#include "main.h"
