#include <initializer_list>
#include <vector>
template <class T> struct Stack {
    std::vector<T> items;
    void push(T item) { items.push_back(item); }
    T pop() {
        T item = items.back();
        items.pop_back();
        return item;
    }
};
int sum_of(std::initializer_list<int> numbers);
inline int shared_counter() {
    static int counter = 0;
    return ++counter;
}
