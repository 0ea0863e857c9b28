// The same through a memory operand alone. An empty template changes nothing in memory and is not counted.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ gives-up: inline assembly
//@ seed: "a"
#include <stdio.h>

int main(void) {
  unsigned char c;
  if (fread(&c, 1, 1, stdin) != 1)
    return 1;
  unsigned char changed = 3;
  __asm__ volatile("movb %1, %%al\n\tmovb %%al, %0" : "=m"(changed) : "m"(c) : "al");
  if (changed == 200)
    return 2;
  return 0;
}
