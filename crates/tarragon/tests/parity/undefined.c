/* One function for each kind of undefined behaviour that clang checks in C; the first argument says which. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES \
    CASE(add) CASE(sub) CASE(mul) CASE(negate) CASE(increment) CASE(add_long) CASE(add_char) CASE(mul_short) CASE(add_wide) \
    CASE(shift_exponent) CASE(shift_negative) CASE(shift_base) CASE(shift_base_negative) CASE(shift_right) \
    CASE(divide_zero) CASE(divide_overflow) CASE(remainder_zero) CASE(float_divide_zero) \
    CASE(float_to_int) CASE(double_to_char) CASE(nan_to_int) CASE(null_read) CASE(null_member) CASE(null_write) \
    CASE(misaligned_read) CASE(misaligned_write) CASE(misaligned_member) CASE(bool_load) CASE(enum_of_c) \
    CASE(index_constant) CASE(index_stack) CASE(index_inner) CASE(index_negative) CASE(index_member) CASE(length_negative) \
    CASE(length_zero) CASE(unreachable) CASE(nonnull_argument) CASE(nonnull_result) CASE(object_size) \
    CASE(pointer_wraps) CASE(pointer_null_offset) CASE(pointer_from_null) CASE(clz_zero) CASE(ctz_zero) CASE(function_type) \
    CASE(assume_false) CASE(two_at_once) CASE(memcpy_null) CASE(unsigned_wraps) CASE(all_well)

static volatile int sink;
static volatile int one = 1;
static volatile int large = INT_MAX;
static volatile long larger = LONG_MAX;
static volatile double real = 1e30;
static void *volatile pointer;

enum color { RED, GREEN };
struct pair { int first, second; int inner[2][3]; };

static void add(void) { sink = large + one; }
static void sub(void) { sink = -large - 2 * one; }
static void mul(void) { sink = large * (one + 1); }
static void negate(void) { int least = -large - 1; sink = -least; }
static void increment(void) { int n = large; n++; sink = n; }
static void add_long(void) { larger = larger + one; }
static void add_char(void) { signed char c = 127; c += one; sink = c; }
static void mul_short(void) { unsigned short a = 65535; sink = a * (a - one + 1); }
static void add_wide(void) { __int128 w = (__int128)larger << 63; w = w + w + w; sink = (int)w; }
static void shift_exponent(void) { sink = one << (31 + one); }
static void shift_negative(void) { sink = one << -one; }
static void shift_base(void) { sink = large << 2; }
static void shift_base_negative(void) { sink = -large << one; }
static void shift_right(void) { unsigned u = 5; sink = (int)(u >> (one + 40)); }
static void divide_zero(void) { sink = large / (one - 1); }
static void divide_overflow(void) { int least = -large - 1; sink = least / -one; }
static void remainder_zero(void) { sink = large % (one - 1); }
static void float_divide_zero(void) { real = real / (one - 1); }
static void float_to_int(void) { sink = (int)real; }
static void double_to_char(void) { double d = 300.0 * one; sink = (signed char)d; }
static void nan_to_int(void) { double d = __builtin_nan(""); pointer = &d; sink = (int)*(double *)pointer; }
static void null_read(void) { pointer = NULL; sink = *(int *)pointer; }
static void null_member(void) { pointer = NULL; sink = ((struct pair *)pointer)->second; }
static void null_write(void) { pointer = NULL; *(int *)pointer = 1; }
static void misaligned_read(void) { char b[16] = {0}; pointer = b + one; sink = *(int *)pointer; }
static void misaligned_write(void) { char b[16] = {0}; pointer = b + one; *(long *)pointer = 1; sink = b[2]; }
static void misaligned_member(void) { char b[64] = {0}; pointer = b + one; sink = ((struct pair *)pointer)->second; }
static void bool_load(void) { unsigned char c = 2; pointer = &c; sink = *(_Bool *)pointer; }
static void enum_of_c(void) { int n = 100; pointer = &n; sink = *(enum color *)pointer; }
static void index_constant(void) { static int t[4]; sink = t[3 + one]; }
static void index_stack(void) { int t[4] = {0}; int i = 3 + one; sink = t[i]; }
static void index_inner(void) { struct pair p = {0}; int i = 2 + one; sink = p.inner[0][i]; }
static void index_negative(void) { static int t[4]; sink = t[-one]; }
static void index_member(void) { struct pair p = {0}; int i = 1 + one; p.inner[i][0] = 1; sink = p.first; }
static void length_negative(void) { char v[-one]; pointer = v; }
static void length_zero(void) { char v[one - 1]; pointer = v; }
static int no_way(int n) { if (n == 2) return 3; __builtin_unreachable(); }
static void unreachable(void) { sink = no_way(one); }
__attribute__((nonnull)) static int take(int *p) { return p != (int *)8; }
static void nonnull_argument(void) { pointer = NULL; sink = take(pointer); }
__attribute__((returns_nonnull)) static void *give(void *p) { return p; }
static void nonnull_result(void) { pointer = NULL; pointer = give(pointer); }
static void object_size(void) { int n = 0; long *p = (long *)&n; sink = (int)*p; }
static void pointer_wraps(void) { char *p = (char *)(uintptr_t)-16; pointer = p + 15 + one + one; }
static void pointer_null_offset(void) { char *p = NULL; pointer = p + one; }
static void pointer_from_null(void) { char *p = (char *)(uintptr_t)8; pointer = p - 8 * one; }
static void clz_zero(void) { sink = __builtin_clz(one - 1); }
static void ctz_zero(void) { sink = __builtin_ctz(one - 1); }
static int of_long(long n) { return (int)n; }
static void function_type(void) { int (*f)(int) = (int (*)(int))of_long; sink = f(one); }
static void assume_false(void) { __builtin_assume(one == 2); }
static void two_at_once(void) { sink = large + one; sink = one << (40 + one); }
static void memcpy_null(void) { pointer = NULL; char b[4]; memcpy(b, pointer, one - 1); sink = b[0]; }
static void unsigned_wraps(void) { unsigned u = UINT_MAX; u += one; sink = (int)u; }
static void all_well(void) { sink = large - one - (one << 3) - 7 / one; }

#include "main.h"
