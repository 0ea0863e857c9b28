/* Sums an array through an index array: memory-bound. */
#include <stdio.h>
#include <stdlib.h>
#define N (1 << 20)
static unsigned values[N], order[N];
int main(void) {
    for (unsigned i = 0; i < N; i++) { values[i] = i * 2654435761u; order[i] = (i * 7919u) & (N - 1); }
    unsigned long sum = 0;
    for (int round = 0; round < 60; round++)
        for (unsigned i = 0; i < N; i++) sum += values[order[i]] ^ (unsigned)round;
    printf("%lu\n", sum);
    return 0;
}
