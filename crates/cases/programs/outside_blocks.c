// A library's blocks lead to memory of the program, which others of its functions look at.
//@ native: native/keeper.c
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "x"
//@ gives-up: function without a model
//@ lost-through: sees_far
#include <unistd.h>

struct list { struct list *next; unsigned char *text; };

unsigned char shared[4]; // of the library
int sees_far(struct list *list);
void *allocates(unsigned long size);

int main(void)
{
    unsigned char text[4];
    struct list *blocks[3];
    if (read(0, text, 1) != 1)
        return 1;
    for (int i = 0; i < 3; i++)
        blocks[i] = allocates(sizeof **blocks);
    blocks[0]->next = blocks[1];
    blocks[1]->next = blocks[2];
    blocks[2]->text = text;
    return sees_far(blocks[0]) ? 2 : 0;
}
