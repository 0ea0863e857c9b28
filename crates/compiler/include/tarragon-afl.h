/* What AFL++'s compilers define for harnesses in persistent mode. Without Tarragon a process gets one input, from its standard
 * input. In variants that run under Tarragon, runs begin at __AFL_INIT, and a process gets as many inputs as the driver gives
 * it. */
#ifndef TARRAGON_AFL_H
#define TARRAGON_AFL_H

#define __AFL_COMPILER 1
#define __AFL_HAVE_MANUAL_CONTROL 1

#ifdef __cplusplus
extern "C" {
#endif
/* In variants only: runs begin here; whether there is another input; how many inputs this process has had, 0 if it gets no
 * other. */
void __tarragon_init(void) __attribute__((weak));
int __tarragon_again(void) __attribute__((weak));
unsigned __tarragon_round(void) __attribute__((weak));
/* In the traced variant only. */
int tarragon_keeps_block(void) __attribute__((weak));
/* Declared under another name: the source may or may not include the header that declares it. */
extern long __tarragon_afl_get(int, void *, unsigned long) __asm__("read");
#ifdef __cplusplus
}
#endif

/* Functions of Tarragon's own, which are no part of the program's coverage. */
#define TARRAGON_OWN __attribute__((section(".text.tarragon"), noinline, unused))

TARRAGON_OWN static void tarragon_afl_init(void)
{
    if (__tarragon_init)
        __tarragon_init();
}

/* Where the block has the size of one input, there is no other. */
TARRAGON_OWN static int tarragon_afl_next(unsigned *rounds, unsigned count)
{
    unsigned before = (*rounds)++;
    int may_share = before < count && tarragon_keeps_block && __tarragon_again;
    return before == 0 || (may_share && __tarragon_again());
}

TARRAGON_OWN static int tarragon_afl_is_new(unsigned *known)
{
    unsigned round = __tarragon_round ? __tarragon_round() : 0;
    int is_new = round != *known;
    *known = round;
    return is_new;
}

/* The block has exactly the input's size, so that a checking build sees reads beyond it; but not where further inputs follow,
 * which the program expects at the same place. */
TARRAGON_OWN static void tarragon_afl_make_block(unsigned char **block, const long *size, unsigned long most)
{
    if (!*block)
        *block = (unsigned char *)__builtin_malloc(tarragon_keeps_block ? most : *size ? *size : 1);
}

#define __AFL_INIT() tarragon_afl_init()

#define __AFL_LOOP(count)                     \
    __extension__({                           \
        static unsigned tarragon_rounds;      \
        tarragon_afl_next(&tarragon_rounds, count); \
    })

#define __AFL_FUZZ_INIT()                                                                                   \
    static unsigned char *__tarragon_afl_text;                                                              \
    static long __tarragon_afl_size;                                                                        \
    static unsigned char *__tarragon_afl_input(void)                                                        \
    {                                                                                                       \
        static unsigned char all[1 << 20];                                                                  \
        static unsigned known = -1u;                                                                        \
        if (tarragon_afl_is_new(&known)) {                                                                  \
            __tarragon_afl_size = __tarragon_afl_get(0, all, sizeof all);                                   \
            if (__tarragon_afl_size < 0)                                                                    \
                __tarragon_afl_size = 0;                                                                    \
            tarragon_afl_make_block(&__tarragon_afl_text, &__tarragon_afl_size, sizeof all);                \
            __builtin_memcpy(__tarragon_afl_text, all, __tarragon_afl_size);                                \
        }                                                                                                   \
        return __tarragon_afl_text;                                                                         \
    }                                                                                                       \
    extern int __tarragon_afl_unused

#define __AFL_FUZZ_TESTCASE_BUF (__tarragon_afl_input())
#define __AFL_FUZZ_TESTCASE_LEN (__tarragon_afl_input(), (int)__tarragon_afl_size)

#endif
