#include <stdio.h>
#ifndef GREETING
#define GREETING "hello"
#endif
int main(int argc, char **argv) {
    (void)argv;
    printf("%s %d\n", GREETING, argc);
    return 3;
}
