// Values on both sides of a boundary of 64 KiB, where the labels of the next page begin.
//@ exhaustive: max-len=2 paths=7 complete
//@ expect-bug: SIGABRT
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Alignas(1 << 16) unsigned char memory[2 << 16];

static unsigned char *boundary(void) {
  unsigned char *volatile at = memory + (1 << 16);
  return at;
}

int main(void) {
  unsigned char input[2];
  if (read(0, input, 2) != 2)
    return 1;
  unsigned char *at = boundary();
  /* Only the bytes behind the boundary depend on the input. */
  at[0] = input[0];
  uint16_t two;
  memcpy(&two, at - 1, 2);
  if (two == 'a' << 8)
    return 2;
  at[1] = input[1];
  uint32_t four;
  memcpy(&four, at - 2, 4);
  if (four == ('b' << 16 | (uint32_t)'c' << 24))
    return 3;
  uint64_t eight;
  memcpy(&eight, at - 6, 8);
  if (eight == ((uint64_t)'d' << 48 | (uint64_t)'e' << 56))
    abort();
  /* A value without a label covers those that were there. */
  four = 7;
  memcpy(at - 3, &four, 4);
  if (at[0] == 'f')
    return 4;
  /* One with a label is found again in pieces. */
  eight = (uint64_t)input[0] << 32;
  memcpy(at - 4, &eight, 8);
  if (at[0] == 'g')
    return 5;
  return 0;
}
