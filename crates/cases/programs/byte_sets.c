// Values of a byte that are equal in their low six bits: three of them are not one.
//@ exhaustive: max-len=1 paths=6 complete
//@ expect-bug: SIGABRT
//@ seed: "\x7f"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int c = getchar();
  if (c == EOF)
    return 1;
  if ((c & 63) == 63 && c != '?') {
    if (c == 0xbf)
      return 3;
    if (c == 0xff)
      abort();
    return 4;
  }
  return 2;
}
