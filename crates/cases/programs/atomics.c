// Atomic loads, stores, updates and exchanges.
//@ seed: "0123"
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int counter;
static atomic_uchar cell;

int main(void)
{
    unsigned char in[4];
    if (read(0, in, sizeof in) != sizeof in)
        return 1;
    atomic_store(&counter, in[0]);
    int before = atomic_fetch_add(&counter, in[1]);
    if (before == 7)
        return 2;
    if (atomic_load(&counter) == 300)
        return 3;
    int expected = 250;
    if (atomic_compare_exchange_strong(&counter, &expected, in[2]))
        if (atomic_load(&counter) == 'k')
            return 4;
    atomic_store(&cell, in[3]);
    if (atomic_exchange(&cell, 0) == '!')
        return 5;
    if (atomic_fetch_xor(&counter, 0x55) == 100)
        return 6;
    return 0;
}
