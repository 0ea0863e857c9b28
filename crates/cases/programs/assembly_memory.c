// Inline assembly that gets the input through memory: what it writes is not followed, and is counted.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ gives-up: inline assembly
//@ seed: "a"
#include <stdio.h>

int main(void) {
  int c = getchar();
  if (c == EOF)
    return 1;
  int from[1] = {c}, to;
  int *pointer = from;
  __asm__ volatile("movl (%1), %%eax\n\tmovl %%eax, %0" : "=m"(to) : "r"(pointer) : "eax", "memory");
  if (to == 200)
    return 2;
  return 0;
}
