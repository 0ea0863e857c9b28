// The library reads the input before `main` begins, which no run sees.
//@ exhaustive: max-len=1 paths=1 incomplete
//@ seed: ""
//@ gives-up: input read by code that is not followed
#include <iostream>

static int first = [] {
    char byte = 0;
    std::cin.get(byte);
    return byte;
}();

int main()
{
    if (first == 'x')
        return 10;
    return 11;
}
