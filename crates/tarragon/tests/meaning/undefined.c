/* Undefined behaviour with a meaning in a build that is not optimised; the first argument says which. The result is what is
 * printed, and how the program ends. */
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES \
    CASE(mul_overflows) CASE(add_less) CASE(sub_more) CASE(negate_least) CASE(count_wraps) CASE(pointer_wraps) \
    CASE(null_checked_late) CASE(null_read) CASE(null_written) CASE(shift_too_far) CASE(shift_by_constant) \
    CASE(shift_negative) CASE(divide_by_zero) CASE(divide_least) CASE(remainder_of_zero) CASE(aliased) \
    CASE(argument_null) CASE(result_null) CASE(bool_of_two) CASE(restricted) CASE(freed_unread) CASE(assumed) CASE(divided_unread) CASE(endless) \
    CASE(jumped_back) CASE(converts_too_much) CASE(converts_infinity) CASE(read_unread) CASE(sum_unread) CASE(recursion)

static int mul_overflows(int n) { int product = 65536 * n * 65536; return product == 0 ? 3 : 4; }
static int add_less(int n) { int x = INT_MAX - 1 + n; return x + 1 < x ? 3 : 4; }
static int sub_more(int n) { int x = INT_MIN + 1 - n; return x - 1 > x ? 3 : 4; }
static int negate_least(int n) { int x = INT_MIN + 1 - n; return -x < 0 ? 3 : 4; }
static int count_wraps(int n) { int rounds = 0; for (int i = INT_MAX - 2; i > 0; i += n) rounds++; return rounds; }
static int pointer_wraps(int n) { char *p = (char *)(uintptr_t)-8; char *q = p + 8 * n + 8; return q < p ? 3 : 4; }
static int peek(int *p) { int value = p ? 1 : *p; return value; }
static int null_checked_late(int n) { int x = 5, *p = n ? &x : NULL; int y = *p; if (!p) return 9; return y + peek(&x); }
static int null_read(int n) { int *p = NULL; return *p + n; }
static int null_written(int n) { int *p = NULL; *p = n; return 4; }
static int shift_too_far(int n) { return (n << (31 + 2 * n)) & 255; }
static int shift_by_constant(int n) { int amount = 40; return (n << amount) >> 4; }
static int shift_negative(int n) { unsigned x = 0x80; return (int)(x >> -30) + n; }
static int divide_by_zero(int n) { int zero = 0; int x = n / zero; return 4 + x; }
static int divided_unread(int n) { int zero = 0; int x = n / zero; return 4 + 0 * x; }
static int divide_least(int n) { int least = INT_MIN, minus = -n; return least / minus == 0; }
static int remainder_of_zero(int n) { int zero = n - n; return n % zero; }
static int write_both(int *a, float *b) { *a = 1; *b = 2.0f; return *a == 1; }
static int aliased(int n) { int x = n; return write_both(&x, (float *)&x) ? 3 : 4; }
__attribute__((nonnull)) static int is_null(int *p) { return p == NULL ? 3 : 4; }
static int argument_null(int n) { return is_null(n == 2 ? &n : NULL); }
__attribute__((returns_nonnull)) static void *same(void *p) { return p; }
static int result_null(int n) { return same(n == 2 ? &n : NULL) == NULL ? 3 : 4; }
static int bool_of_two(int n) { unsigned char two = n + 1; _Bool b; memcpy(&b, &two, 1); return b ? 3 : 4; }
static int both(int *restrict a, int *restrict b) { *a = 1; *b = 2; return *a; }
static int restricted(int n) { int x = n; return both(&x, &x); }
static int freed_unread(int n) { char *p = malloc(24); free(p); free(n == 2 ? NULL : p); return 4; }
static int endless(int n) { unsigned i = 1; while (i != 0) i = i * 2 + n; return 4; }
static jmp_buf place;
static int jumped_back(int n) { int x = 1; if (setjmp(place) == 0) { x = n + 6; longjmp(place, 1); } return x; }
static int converts_too_much(int n) { double x = n ? 1e20 : 0; return (int)x == INT_MIN ? 3 : 4; }
static int converts_infinity(int n) { float x = 1e30f * 1e30f * n; return (int)x == INT_MIN ? 3 : 4; }
static int read_unread(int n) { int *p = n ? NULL : &n; int unread = *p; return 4; }
static int sum_unread(int n) { int *p = n ? NULL : &n; long unread = *p + 1; return 4; }
static int depth(unsigned n) { return n == 0 ? 0 : depth(n - 1); }
static int recursion(int n) { return depth(20000000 * n) & 1; }
static int assumed(int n) { __builtin_assume(n == 2); return n == 2 ? 3 : 4; }

int main(int argc, char **argv)
{
    int n = getchar() == 'a';
#define CASE(name) \
    if (argc > 1 && strcmp(argv[1], #name) == 0) { \
        int result = name(n); \
        printf("%d\n", result); \
        return result & 127; \
    }
    CASES
#undef CASE
#define CASE(name) puts(#name);
    CASES
    return 0;
}
