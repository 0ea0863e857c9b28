// Functions behind a computed index, and in structures that the input chooses: each target is another way to go on.
//@ expect-bug: SIGABRT
//@ expect-bug: SIGILL
//@ seed: "aaaa"
#include <stdio.h>
#include <stdlib.h>

static int zero(int x) { return x & 0; }
static int last(int x) {
  if (x == 'q')
    abort();
  return x;
}

static int (*const functions[16])(int) = {zero, zero, zero, zero, zero, zero, zero, zero,
                                          zero, zero, zero, zero, zero, last, zero, zero};

struct command {
  char name[6];
  int (*run)(int);
};

static int trap(int x) {
  if (x == '!')
    __builtin_trap();
  return 2;
}

static struct command commands[3] = {{"none", zero}, {"same", zero}, {"trap", trap}};

int main(void) {
  unsigned a = (unsigned)getchar(), b = (unsigned)getchar(), c = (unsigned)getchar();
  int x = getchar();
  if (x == EOF)
    return 1;
  struct command *command = &commands[c % 3];
  return functions[(a * 5 + b * 3) % 16](x) + command->run(x);
}
