/* More than a hundred million instructions on values that all depend on the input: every step makes a new expression. */
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 20000, SIZE = 1024 };

int main(void)
{
    static unsigned char in[SIZE];
    uint32_t state = 1;
    if (fread(in, 1, SIZE, stdin) != SIZE)
        return 1;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SIZE; i++) {
            state = (state ^ in[i]) * 16777619u;
            state += state >> 15;
        }
    return state == 0x12345678 ? 2 : 0;
}
