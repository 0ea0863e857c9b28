// Library functions are asked about a place that the input chooses: what they find there is no expression, so the place is fixed.
//@ exhaustive: max-len=1 paths=2 complete
//@ expect-bug: SIGABRT
//@ seed: "a"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char words[] = "abc\0de\0f";

int main(void) {
  int c = getchar();
  if (c == EOF)
    return 1;
  if (strlen(words + (c & 7)) == 0 || !memchr(words + (c & 7), 'f', 8 - (c & 7)))
    abort();
  return 0;
}
