#include <stdio.h>
int triple(int);
int main(void) {
    printf("%d\n", triple(14));
    return 0;
}
