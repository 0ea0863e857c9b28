#include <math.h>
#include <pthread.h>
#include <stdio.h>
static void *work(void *argument) {
    *(double *)argument = cbrt(*(double *)argument);
    return 0;
}
int main(void) {
    volatile double number = 27;
    pthread_t thread;
    pthread_create(&thread, 0, work, (void *)&number);
    pthread_join(thread, 0);
    printf("%g\n", number);
    return 0;
}
