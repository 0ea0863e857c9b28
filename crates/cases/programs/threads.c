// Threads: labels travel through memory and stay apart in each thread.
//@ flags: -pthread
//@ seed: "01"
//@ uncovered: 29
#include <pthread.h>
#include <unistd.h>

struct work {
    unsigned char in;
    int out;
};

static void *run(void *argument)
{
    struct work *work = argument;
    for (int i = 0; i < 100; i++)
        work->out += work->in;
    return NULL;
}

int main(void)
{
    unsigned char in[2];
    if (read(0, in, 2) != 2)
        return 1;
    struct work work[2] = {{in[0], 0}, {in[1], 5}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, run, &work[i]))
            return 9;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (work[0].out == 4200)
        return 2;
    if (work[1].out == 20005)
        return 3;
    return 0;
}
