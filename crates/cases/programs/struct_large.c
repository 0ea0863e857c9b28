// Structs passed and returned in memory.
//@ seed: "0123456789ab"
#include <string.h>
#include <unistd.h>

struct large {
    long head;
    unsigned char text[40];
    int tail;
};

__attribute__((noinline)) static struct large turn(struct large in)
{
    struct large out = {in.tail, {0}, (int)in.head};
    for (int i = 0; i < 8; i++)
        out.text[i] = in.text[7 - i];
    return out;
}

int main(void)
{
    struct large in = {0};
    unsigned char bytes[12];
    if (read(0, bytes, sizeof bytes) != sizeof bytes)
        return 1;
    memcpy(in.text, bytes, 8);
    in.head = bytes[8] * 3;
    in.tail = bytes[9] + bytes[10];
    struct large out = turn(in);
    struct large copy = out;
    if (copy.head == 500)
        return 2;
    if (copy.tail == 300)
        return 3;
    if (memcmp(copy.text, "tarragon", 8) == 0)
        return 4;
    return 0;
}
