// An object without bitcode sees what it was given earlier, what is several pointers away, and far ends of objects.
//@ native: native/keeper.c
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "a"
//@ gives-up: function without a model
//@ lost-through: sees_kept
//@ lost-through: sees_far
//@ lost-through: sees_late
#include <stdlib.h>
#include <unistd.h>

struct list { struct list *next; unsigned char *text; };
unsigned char shared[4];
void keeps(const unsigned char *text);
int sees_kept(void);
int sees_far(struct list *list);
int sees_late(const unsigned char *text);

int main(void)
{
    unsigned char text[4] = "", *large = calloc(1, 8192);
    struct list last = {0, text}, middle = {&last, 0}, first = {&middle, 0};
    keeps(text);
    if (read(0, text, 1) != 1)
        return 1;
    large[5000] = text[0];
    if (sees_kept())
        return 2;
    return sees_far(&first) ? 3 : sees_late(large) ? 4 : 0;
}
