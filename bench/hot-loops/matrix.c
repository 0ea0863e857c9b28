/* Multiplies matrices of doubles. */
#include <stdio.h>
enum { N = 512 };
static double a[N][N], b[N][N], c[N][N];
int main(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) { a[i][j] = i + j; b[i][j] = i - j; }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
                c[i][j] += sum;
            }
    printf("%f\n", c[17][33]);
    return 0;
}
