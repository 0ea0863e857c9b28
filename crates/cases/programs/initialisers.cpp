// Static initialisers and destructors run as they should, and before the input.
//@ uncovered: 7
#include <cstdio>
#include <map>
#include <string>

static const std::map<std::string, int> codes = {{"on", 2}, {"off", 3}};

struct Noisy {
    Noisy() { std::puts("begin"); }
    ~Noisy() { std::puts("end"); }
} noisy;

int main()
{
    char word[5] = {0};
    if (std::fread(word, 1, 4, stdin) != 4)
        return 1;
    word[0] ^= 1;
    if (word[0] == 'o' && word[3] == '!')
        return codes.count("on") ? 2 : 4;
    return 0;
}
