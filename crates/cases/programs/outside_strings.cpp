// Long strings, whose bytes are in memory that the library has allocated.
//@ exhaustive: max-len=1 paths=2 incomplete
//@ seed: "x"
//@ gives-up: function without a model
//@ lost-through: find
//@ lost-through: operator>>
//@ lost-through: __cxa_demangle
#include <cxxabi.h>
#include <sstream>
#include <string>
#include <unistd.h>

int main()
{
    std::string text(60, 'a');
    char byte, name[] = "_Z1f?";
    if (read(0, &byte, 1) != 1)
        return 1;
    text[50] = byte;
    bool found = text.find('x') == 50;
    std::istringstream in(text);
    std::string word;
    in >> word;
    name[4] = byte;
    int status;
    abi::__cxa_demangle(name, nullptr, nullptr, &status);
    return found || word.size() == 50 || status == 0;
}
