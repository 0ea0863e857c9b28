/* Recursive Fibonacci: nothing but calls. */
#include <stdio.h>
static __attribute__((noinline)) unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) { printf("%u\n", fib(40)); return 0; }
