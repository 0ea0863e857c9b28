// Uninstrumented code overwrites symbolic memory and calls back: labels that no longer fit are not believed.
//@ uncovered: 32
//@ native: native/overwrite.c
//@ seed: "01234567"
//@ gives-up: overwritten by uninstrumented code
//@ gives-up: function without a model
//@ same-output: "abcdefgh"
#include <stdio.h>
#include <unistd.h>

void scramble(unsigned char *bytes, int size);
void fill(unsigned char *bytes, int size);
int twice(int (*function)(int), int x);

static unsigned char add;

static int step(int x)
{
    return x + add;
}

int main(void)
{
    unsigned char in[8];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    scramble(in, 4);
    printf("%d %d\n", in[0] > 100, in[3] > 100);
    if (in[5] == '!')
        return 2;
    add = in[6];
    if (twice(step, in[7]) == 300)
        return 3;
    fill(in, 8);
    return in[2] == 'c' ? 4 : 5;
}
