// A switch on an integer wider than 64 bits.
//@ seed: "0123456789abcdef"
#include <unistd.h>

int main(void)
{
    unsigned __int128 x;
    if (read(0, &x, 16) != 16)
        return 1;
    switch (x) {
    case 5: return 2;
    case (unsigned __int128)7 << 80: return 3;
    }
    return 0;
}
