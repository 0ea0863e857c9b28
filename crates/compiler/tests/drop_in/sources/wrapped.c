#include <stdio.h>
#include <stdlib.h>
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
    puts("wrapped");
    return __real_calloc(count, size);
}
int main(void) {
    void *volatile memory = calloc(1, 10);
    free(memory);
    return memory == 0;
}
