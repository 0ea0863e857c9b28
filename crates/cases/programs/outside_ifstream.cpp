// A file that a library without bitcode opens by its name, which is in a string.
//@ exhaustive: max-len=6 paths=1 incomplete
//@ seed: "a"
//@ arguments: @@
//@ gives-up: input read by code that is not followed
//@ lost-through: open(
#include <fstream>
#include <string>

int main(int, char **words)
{
    std::string name = words[1], line;
    std::ifstream in(name);
    std::getline(in, line);
    if (line == "magic")
        __builtin_trap();
    return 0;
}
