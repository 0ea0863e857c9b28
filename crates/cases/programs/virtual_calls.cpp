// Virtual functions, templates and a container from the library.
//@ seed: "0123"
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual int area() const = 0;
};
struct Square : Shape {
    int side;
    explicit Square(int side) : side(side) {}
    int area() const override { return side * side; }
};
struct Strip : Shape {
    int length;
    explicit Strip(int length) : length(length) {}
    int area() const override { return length; }
};

int main()
{
    unsigned char in[4];
    if (std::fread(in, 1, 4, stdin) != 4)
        return 1;
    std::vector<std::unique_ptr<Shape>> shapes;
    shapes.push_back(std::make_unique<Square>(in[0]));
    shapes.push_back(std::make_unique<Strip>(in[1]));
    int total = 0;
    for (const auto &shape : shapes)
        total += shape->area();
    if (total == 10020)
        return 2;
    std::string text(reinterpret_cast<char *>(in), 4);
    if (text[2] == 'k')
        return 3;
    return 0;
}
