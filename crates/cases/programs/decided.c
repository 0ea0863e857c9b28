// Conditions that are used again behind the branch on them: stored, joined, and carried into the next round of a loop; and
// one that no branch has decided where it is used, because the block that computes it ends with another.
//@ seed: "zzzz"
#include <unistd.h>

int main(void)
{
    unsigned char in[4];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    int was = 0, count = 0, first = 0;
    for (int i = 0; i < 4; i++) {
        int is = in[i] == 'a';
        if (is)
            count++;
        if (was && in[i] == 'b')
            count += 4;
        if (i == 0)
            first = is;
        was = is;
    }
    int both = first & was;
    int open = in[3] == 'q';
    if (count == 10)
        return 2;
    if (open)
        return 4;
    if (both && count == 4)
        return 3;
    return 0;
}
