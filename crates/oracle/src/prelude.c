#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;
typedef __int128 i128;
typedef unsigned __int128 u128;

/* The path so far: the leaf, at the end. */
static u32 path;
static void m(u32 mark) { path = path * 31 + mark; }

static u8 global[32];
static u8 pages[3 * 65536] __attribute__((aligned(65536)));
#define straddling (pages + 65536 - 16)

#define TYPES(F) F(_Bool) F(i8) F(u8) F(i16) F(u16) F(i32) F(u32) F(i64) F(u64) F(i128) F(u128)
#define FUNCTIONS(T) \
    struct __attribute__((packed)) any_##T { T value; }; \
    static T div_##T(T a, T b) { return b == 0 || b == (T)-1 ? a : a / b; } \
    static T rem_##T(T a, T b) { return b == 0 || b == (T)-1 ? a : a % b; } \
    static T max_##T(T a, T b) { return a > b ? a : b; } \
    static T least_##T(T a, T b) { if (b < a) a = b; return a; }
TYPES(FUNCTIONS)
#define OVERFLOWS(T) \
    static i32 add_over_##T(T a, T b) { T r; return __builtin_add_overflow(a, b, &r); } \
    static T sub_to_##T(T a, T b) { T r; return __builtin_sub_overflow(a, b, &r) ? 7 : r; } \
    static i32 mul_over_##T(T a, T b) { T r; return __builtin_mul_overflow(a, b, &r); }
OVERFLOWS(i8) OVERFLOWS(u8) OVERFLOWS(i16) OVERFLOWS(u16) OVERFLOWS(i32) OVERFLOWS(u32)
OVERFLOWS(i64) OVERFLOWS(u64)

static u64 bits(u64 x) { return (u64)__builtin_popcountll(x); }
static u64 zeros_before(u64 x) { return (u64)__builtin_clz((u32)x | 1); }
static u64 zeros_behind(u64 x) { return (u64)__builtin_ctzll(x | 1ull << 63); }
static u64 swapped(u64 x) { return __builtin_bswap32((u32)x); }
static u64 reversed(u64 x) { return __builtin_bitreverse8((u8)x); }
static u64 rotated(u64 x) { return (u8)((u8)x << 3 | (u8)x >> 5); }
static u64 odd(u64 x) { return (u64)__builtin_parityll(x); }
static u64 distance(u64 x) { return (u64)labs((long)(i32)x); }

static int sign(int x) { return (x > 0) - (x < 0); }
static long place(const char *text, const void *found) {
    return found ? (const char *)found - text : -1;
}
static long number(const char *text, int base) {
    char *end;
    long value = strtol(text, &end, base);
    return value * 4 + (end - text);
}

struct fields { u32 a : 3; i32 b : 5; u32 c : 8; i64 d : 13; u64 e : 33; u32 f : 1; };
static u64 get_field(struct fields s, int which) {
    switch (which) {
    case 0: return s.a;
    case 1: return (u64)s.b;
    case 2: return s.c;
    case 3: return (u64)s.d;
    case 4: return s.e;
    default: return s.f;
    }
}

struct small { u8 a; i16 b; };
struct middle { u8 a; i64 b; };
struct large { i32 a; u8 b; u64 c[3]; };
static struct small make_small(u64 a, u64 b) { return (struct small){(u8)a, (i16)b}; }
static struct middle make_middle(u64 a, u64 b) { return (struct middle){(u8)a, (i64)b}; }
static struct large make_large(u64 a, u64 b) {
    return (struct large){(i32)a, (u8)b, {a, b, a + b}};
}
static u64 member_small(struct small s, int which) { return which ? (u64)s.b : s.a; }
static u64 member_middle(struct middle s, int which) { return which ? (u64)s.b : s.a; }
static u64 member_large(struct large s, int which) { return which ? s.c[which] : (u64)s.a; }

static u32 same(u32 x) { return x; }
static u32 doubled(u32 x) { return x * 2; }
static u32 inverted(u32 x) { return ~x; }
static u32 of_letter(u32 x) { return x == 'q' ? 9 : x % 5; }
static u32 (*const functions[4])(u32) = {same, doubled, inverted, of_letter};

static size_t by_read(u8 *in) {
    ssize_t n = read(0, in, 2);
    return n < 0 ? 0 : (size_t)n;
}
static size_t by_getchar(u8 *in) {
    size_t n = 0;
    int c;
    while (n < 2 && (c = getchar()) != EOF) in[n++] = (u8)c;
    return n;
}
static size_t by_fread(u8 *in) { return fread(in, 1, 2, stdin); }
static size_t by_fgets(u8 *in) { return fgets((char *)in, 3, stdin) ? strlen((char *)in) : 0; }

struct program {
    size_t (*reader)(u8 *in);
    void (*run)(const u8 *in, size_t n);
};
static const struct program programs[];

static void start(void) {
    path = 1;
    memset(global, 0, sizeof global);
    memset(straddling, 0, 32);
}

/* What the reader would make of the input, without reading. */
static size_t accept(const struct program *program, const u8 *bytes, size_t n, u8 *in) {
    memcpy(in, bytes, n);
    if (program->reader != by_fgets) return n;
    if (n == 2 && in[0] == '\n') in[1] = 0;
    return strlen((char *)in);
}

static u32 leaf(const struct program *program, const u8 *bytes, size_t n) {
    u8 in[4] = {0};
    n = accept(program, bytes, n, in);
    start();
    program->run(in, n);
    return path;
}

/* Writes the leaves of all inputs of a length. */
static int enumerate(const struct program *program, size_t n) {
    for (u32 i = 0; i < 1u << 8 * n; i++) {
        u8 bytes[2] = {(u8)i, (u8)(i >> 8)};
        u32 found = leaf(program, bytes, n);
        fwrite(&found, sizeof found, 1, stdout);
    }
    return 0;
}

int main(int argc, char **argv) {
    const struct program *program = &programs[atoi(argv[1])];
    if (argc > 2) return enumerate(program, (size_t)atoi(argv[2]));
    u8 in[4] = {0};
    size_t n = program->reader(in);
    start();
    program->run(in, n);
    return (path ^ path >> 8 ^ path >> 16 ^ path >> 24) & 255;
}
