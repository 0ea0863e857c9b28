// Greets as a runtime of version 999 would, with a report shorter than ours: HELLO, the version, whatever else.
#include <stdlib.h>
#include <unistd.h>

int main(void) {
    unsigned greeting[4] = {0x54470001, 999, 7, 7};
    if (!getenv("TARRAGON_SERVER")) return 0;
    return write(197, greeting, sizeof greeting) == sizeof greeting ? 2 : 3;
}
