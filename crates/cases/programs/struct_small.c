// Structs passed and returned in registers.
//@ seed: "0123456789ab"
#include <unistd.h>

struct pair {
    int a;
    short b;
    char c;
};
struct mixed {
    double d;
    long n;
};

__attribute__((noinline)) static struct pair swap(struct pair p)
{
    struct pair result = {p.b, (short)p.a, (char)(p.c + 1)};
    return result;
}

__attribute__((noinline)) static struct mixed mix(struct mixed m, int add)
{
    struct mixed result = {m.d + add, m.n ^ add};
    return result;
}

int main(void)
{
    unsigned char in[12];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    struct pair p = swap((struct pair){in[0] | in[1] << 8, in[2], (char)in[3]});
    if (p.a == 200)
        return 2;
    if (p.b == -2)
        return 3;
    if (p.c == 'z')
        return 4;
    struct mixed m = mix((struct mixed){in[4], in[5] | (long)in[6] << 40}, in[7]);
    if (m.d == 300.0)
        return 5;
    if (m.n == 0x770000000011)
        return 6;
    return 0;
}
