// Assembly without instructions that only keeps the compiler from moving memory: nothing is lost.
//@ exhaustive: max-len=1 paths=3 complete
//@ seed: "a"
#include <stdio.h>

int main(void) {
  unsigned char c;
  if (fread(&c, 1, 1, stdin) != 1)
    return 1;
  __asm__ volatile("" : : "r"(&c) : "memory");
  if (c == 200)
    return 2;
  return 0;
}
