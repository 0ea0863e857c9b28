// C++ exceptions and destructors.
//@ uncovered: 28
#include <cstdio>
#include <stdexcept>

struct Counter {
    int *count;
    ~Counter() { ++*count; }
};

__attribute__((noinline)) static int check(int c, int *count)
{
    Counter counter{count};
    if (c == 'x')
        throw std::runtime_error("x");
    if (c == 'y')
        throw 42;
    return c;
}

int main()
{
    int count = 0;
    int c = std::getchar();
    try {
        if (check(c, &count) == 'z')
            return 2;
    } catch (const std::exception &error) {
        std::puts(error.what());
        return count + 2;
    } catch (int number) {
        return number == 42 ? 4 : 5;
    }
    return 0;
}
