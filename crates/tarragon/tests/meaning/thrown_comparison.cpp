// What a comparison throws passes through the functions of the library that called it.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static int compare(const void *a, const void *b)
{
    char x = *static_cast<const char *>(a), y = *static_cast<const char *>(b);
    if (x == 'a') throw std::runtime_error("a letter that has no place");
    return x - y;
}

int main()
{
    char letters[3] = {static_cast<char>(std::getchar()), 'c', 'b'};
    int result = 4;
    try {
        std::qsort(letters, 3, 1, compare);
    } catch (const std::exception &) {
        result = 3;
    }
    try {
        result += std::bsearch("a", letters, 3, 1, compare) != nullptr;
    } catch (const std::exception &) {
        result += 8;
    }
    return result;
}
