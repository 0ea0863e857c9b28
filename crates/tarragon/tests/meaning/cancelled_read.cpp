// A thread is cancelled while it reads: its stack is unwound through the library's functions.
#include <cstdio>
#include <pthread.h>
#include <unistd.h>

static int ends[2], unwound;

struct Guard {
    ~Guard() { unwound = 3; }
};

static void *wait_for_ever(void *)
{
    Guard guard;
    char byte;
    return reinterpret_cast<void *>(read(ends[0], &byte, 1));
}

int main()
{
    int letter = std::getchar();
    pthread_t thread;
    if (pipe(ends) != 0 || pthread_create(&thread, nullptr, wait_for_ever, nullptr) != 0) return 1;
    if (letter == 'a') pthread_cancel(thread);
    else close(ends[1]);
    pthread_join(thread, nullptr);
    return unwound;
}
