// Greets as a runtime of version 999 would: eight words, of which the first is HELLO and the last the version.
#include <stdlib.h>
#include <unistd.h>

int main(void) {
    unsigned greeting[8] = {0x54470001, 0, 0, 0, 0, 0, 0, 999};
    if (!getenv("TARRAGON_SERVER")) return 0;
    return write(197, greeting, sizeof greeting) == sizeof greeting ? 2 : 3;
}
