// A library function gets the list of the arguments, one of which is the input.
//@ exhaustive: max-len=2 paths=5 incomplete
//@ arguments: @{}
//@ uncovered: 13, 15
//@ seed: "x"
//@ gives-up: function without a model
//@ lost-through: getopt
#include <getopt.h>

int main(int argc, char **argv)
{
    int option = getopt(argc, argv, "ab:");
    if (option == 'a')
        return 10;
    if (option == 'b')
        return 12;
    return 11;
}
