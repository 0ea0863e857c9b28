// Bytes of the input that a library without bitcode gets as a string.
//@ exhaustive: max-len=3 paths=6 incomplete
//@ seed: "ab"
//@ gives-up: function without a model
//@ lost-through: std::istream::operator>>
#include <sstream>
#include <unistd.h>

int main()
{
    char bytes[3] = {};
    int number = 0;
    if (read(0, bytes, 2) < 0)
        return 1;
    std::istringstream in(bytes);
    in >> number;
    if (number == 77)
        __builtin_trap();
    return 0;
}
