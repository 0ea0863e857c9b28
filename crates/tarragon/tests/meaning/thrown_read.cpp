// What a stream's own function throws passes through the functions of the library that called it.
#include <cstdio>

static ssize_t none(void *, char *, size_t) { throw 5; }

int main()
{
    std::FILE *file = fopencookie(nullptr, "r", {none, nullptr, nullptr, nullptr});
    try {
        return std::getc(file) == 'x';
    } catch (int) {
        return std::getchar() == 'a' ? 3 : 4;
    }
}
