#include "stack.hh"
int sum_of(std::initializer_list<int> numbers) {
    Stack<int> stack;
    for (int number : numbers) stack.push(number);
    int sum = shared_counter();
    while (!stack.items.empty()) sum += stack.pop();
    return sum;
}
