#include "stack.hh"
#include <iostream>
#include <stdexcept>
struct Guard {
    ~Guard() { std::cout << "unwound\n"; }
};
int depth(int n) {
    Guard guard;
    if (n == 0) throw std::runtime_error("bottom");
    return depth(n - 1);
}
int main() {
    Stack<int> stack;
    stack.push(sum_of({1, 2, 3}));
    try {
        depth(2);
    } catch (const std::exception &error) {
        std::cout << error.what() << ' ' << stack.pop() << '\n';
    }
}
