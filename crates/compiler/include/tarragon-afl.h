/* What AFL++'s compilers define for harnesses in persistent mode. Here each process gets one input, from its standard
 * input, and Tarragon's fork server makes processes cheap. */
#ifndef TARRAGON_AFL_H
#define TARRAGON_AFL_H

#define __AFL_COMPILER 1
#define __AFL_HAVE_MANUAL_CONTROL 1
#define __AFL_INIT() ((void)0)

#define __AFL_LOOP(count)                \
    __extension__({                      \
        static int __tarragon_rounds;    \
        __tarragon_rounds++ == 0;        \
    })

/* Declared under another name: the source may or may not include the header that declares it. */
extern long __tarragon_afl_get(int, void *, unsigned long) __asm__("read");

/* The block has exactly the input's size, so that a checking build sees reads beyond it. */
#define __AFL_FUZZ_INIT()                                                                                   \
    static unsigned char *__tarragon_afl_text;                                                              \
    static long __tarragon_afl_size = -1;                                                                   \
    static unsigned char *__tarragon_afl_input(void)                                                        \
    {                                                                                                       \
        static unsigned char all[1 << 20];                                                                  \
        if (__tarragon_afl_size < 0) {                                                                      \
            __tarragon_afl_size = __tarragon_afl_get(0, all, sizeof all);                                   \
            if (__tarragon_afl_size < 0)                                                                    \
                __tarragon_afl_size = 0;                                                                    \
            __tarragon_afl_text =                                                                           \
                (unsigned char *)__builtin_malloc(__tarragon_afl_size ? __tarragon_afl_size : 1);           \
            __builtin_memcpy(__tarragon_afl_text, all, __tarragon_afl_size);                                \
        }                                                                                                   \
        return __tarragon_afl_text;                                                                         \
    }                                                                                                       \
    extern int __tarragon_afl_unused

#define __AFL_FUZZ_TESTCASE_BUF (__tarragon_afl_input())
#define __AFL_FUZZ_TESTCASE_LEN (__tarragon_afl_input(), (int)__tarragon_afl_size)

#endif
