#include "shapes.h"
#include <stdio.h>
int main(void) {
    printf("%d %d\n", area(6, 7), perimeter(6, 7));
    return 0;
}
