#include <stdio.h>
int triple(int);
int quad(int);
int main(void) {
    printf("%d\n", triple(quad(2)));
    return 0;
}
