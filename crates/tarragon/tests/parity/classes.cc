// One function for each kind of error that is C++'s own; the first argument says which.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#define CASES \
    CASE(new_then_free) CASE(malloc_then_delete) CASE(new_array_then_delete) CASE(new_then_delete_array) \
    CASE(size_mismatch) CASE(delete_twice) CASE(use_after_delete) CASE(array_cookie) CASE(new_overflow) CASE(new_negative) \
    CASE(vector_index) CASE(vector_freed) CASE(string_view_gone) CASE(no_return) CASE(wrong_type) CASE(wrong_cast) \
    CASE(null_this) CASE(bool_load) CASE(enum_load) CASE(reference_null) CASE(misaligned_this) CASE(function_type) \
    CASE(lambda_scope) CASE(temporary_gone) CASE(leak) CASE(after_exception) CASE(all_well)

static volatile int sink;
static volatile int one = 1;
static void *volatile pointer;

struct Base {
    virtual ~Base() {}
    virtual int value() { return 1; }
    int number = 1;
};
struct Derived : Base {
    int value() override { return 2; }
    int more[10] = {0};
};
struct Other {
    virtual ~Other() {}
    virtual int value() { return 3; }
    int number = 1;
};
struct Plain {
    int number = 1;
    int get() { return number; }
    int nothing() { return 4; }
};
struct Counted {
    ~Counted() { sink = sink + 1; }
    int number = 1;
};
enum Color { RED, GREEN };

static void new_then_free() { int *p = new int(1); pointer = p; free(pointer); }
static void malloc_then_delete() { pointer = malloc(4); delete (int *)pointer; }
static void new_array_then_delete() { pointer = new int[4]; delete (int *)pointer; }
static void new_then_delete_array() { pointer = new int; delete[] (int *)pointer; }
static void size_mismatch() { pointer = new char[100]; ::operator delete(::operator new(100), (size_t)(98 + one)); }
static void delete_twice() { int *p = new int; pointer = p; delete p; delete (int *)pointer; }
static void use_after_delete() { int *p = new int(3); pointer = p; delete p; sink = *(int *)pointer; }
static void array_cookie() { Counted *p = new Counted[3]; pointer = p; sink = ((int *)pointer)[-one]; delete[] p; }
static void new_overflow() { pointer = new char[(size_t)1 << (46 + one)]; }
static void new_negative() { pointer = new int[-one]; }
static void vector_index() { std::vector<int> v(4); sink = v.data()[3 + one]; }
static void vector_freed() { std::vector<int> v(4); int &r = v[0]; v.resize(1000); sink = r; }
static void string_view_gone() { const char *c; { std::string s(100, 'x'); c = s.c_str(); } sink = c[one]; }
static int forgets(int n) { if (n == 2) return 1; }
static void no_return() { sink = forgets(one); }
static void wrong_type() { Other *o = new Other; pointer = o; sink = ((Base *)pointer)->value(); delete o; }
static void wrong_cast() { Base *b = new Base; sink = static_cast<Derived *>(b)->more[0] * 0; delete b; }
static void null_this() { pointer = nullptr; sink = ((Plain *)pointer)->nothing(); }
static void bool_load() { unsigned char c = 2; pointer = &c; sink = *(bool *)pointer; }
static void enum_load() { int n = 100; pointer = &n; sink = *(Color *)pointer; }
static void reference_null() { pointer = nullptr; int &r = *(int *)pointer; pointer = &r; }
static void misaligned_this() { char b[16] = {0}; pointer = b + one; sink = ((Plain *)pointer)->nothing(); }
static int of_long(long n) { return (int)n; }
static void function_type() { auto f = reinterpret_cast<int (*)(int)>(of_long); sink = f(one); }
static void lambda_scope() { int *p; { int n = 5; auto keep = [&] { p = &n; }; keep(); } sink = *p; }
static const int &smaller(const int &a, const int &b) { return a < b ? a : b; }
static void temporary_gone() { const int &r = smaller(one + 1, one + 2); sink = r; }
static void leak() { pointer = new int[10]; pointer = nullptr; }
static void after_exception()
{
    int *p = new int(1);
    pointer = p;
    try {
        delete p;
        throw std::runtime_error("no");
    } catch (const std::exception &) {
        sink = *(int *)pointer;
    }
}
static void all_well() { auto d = std::make_unique<Derived>(); Base *b = d.get(); sink = b->value(); }

#include "main.h"
