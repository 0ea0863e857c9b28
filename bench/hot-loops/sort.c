/* Heap sort: comparisons, swaps and data-dependent branches. */
#include <stdio.h>
#include <stdlib.h>
static void sift(int *a, int root, int end) {
    for (;;) {
        int child = 2 * root + 1;
        if (child >= end) return;
        if (child + 1 < end && a[child] < a[child + 1]) child++;
        if (a[root] >= a[child]) return;
        int t = a[root]; a[root] = a[child]; a[child] = t;
        root = child;
    }
}
int main(void) {
    enum { N = 1 << 20 };
    int *a = malloc(N * sizeof *a);
    unsigned long check = 0;
    for (int round = 0; round < 4; round++) {
        unsigned x = 12345 + round;
        for (int i = 0; i < N; i++) { x = x * 1103515245u + 12345u; a[i] = (int)(x >> 8); }
        for (int i = N / 2 - 1; i >= 0; i--) sift(a, i, N);
        for (int end = N - 1; end > 0; end--) { int t = a[0]; a[0] = a[end]; a[end] = t; sift(a, 0, end); }
        check += (unsigned)a[N / 2];
    }
    printf("%lu\n", check);
    free(a);
    return 0;
}
