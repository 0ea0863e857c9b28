// Streams of C++ are in a library without bitcode: it reads the input, and that is said.
//@ exhaustive: max-len=6 paths=1 incomplete
//@ seed: "a\nb c"
//@ gives-up: input read by code that is not followed
//@ lost-through: std::getline
//@ lost-through: std::operator>>
//@ lost-through: std::istream::get()
#include <iostream>
#include <string>

int main()
{
    std::string line, word;
    std::getline(std::cin, line);
    std::cin >> word;
    int c = std::cin.get();
    if (line == "magic" || word == "magic" || c == 'm')
        __builtin_trap();
    return 0;
}
