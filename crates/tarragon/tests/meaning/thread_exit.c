/* The first thread ends before the others: its stack is unwound. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int letter;

static void *work(void *unused)
{
    exit(letter == 'a' ? 3 : 4);
    return unused;
}

int main(void)
{
    pthread_t thread;
    letter = getchar();
    pthread_create(&thread, NULL, work, NULL);
    pthread_exit(NULL);
}
