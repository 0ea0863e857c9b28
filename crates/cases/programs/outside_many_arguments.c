// The input is one of many arguments.
//@ exhaustive: max-len=2 paths=5 incomplete
//@ arguments: -c -c -c -c -c -c -c -c -c @{}
//@ seed: "-a"
//@ gives-up: function without a model
//@ lost-through: getopt
#include <unistd.h>

int main(int argc, char **argv)
{
    int option, last = 0;
    while ((option = getopt(argc, argv, "abc")) != -1)
        last = option;
    return last == 'a';
}
