// Functions that are entered from elsewhere: through pointers, with variable arguments, large structs and jump tables. Runs with and without
// labels go through different versions of them.
//@ random: "0123ab"
//@ flags: -O2
//@ uncovered: 22, 24, 80
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    long length;
    char bytes[40];
};

static long sum(int count, ...)
{
    va_list list;
    long total = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        total += i % 2 ? (long)va_arg(list, double) : va_arg(list, int);
    va_end(list);
    if (total == 777)
        return -1;
    return total;
}

static struct text reversed(struct text from)
{
    struct text to = {from.length, {0}};
    for (long i = 0; i < from.length; i++)
        to.bytes[i] = from.bytes[from.length - 1 - i];
    from.bytes[0] = '?';
    return to;
}

static long run(const char *code)
{
    static const void *const targets[] = {&&add, &&twice, &&less, &&halt};
    const void *const *table = targets;
    long value = 0;
next:
    if (*code < '0' || *code > '3')
        return value;
    goto *table[*code++ - '0'];
add:
    value += 1;
    goto next;
twice:
    value *= 2;
    goto next;
less:
    value -= 3;
    goto next;
halt:
    return value + 100;
}

static int compare(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

long (*volatile summing)(int, ...) = sum;
struct text (*volatile reversing)(struct text) = reversed;
long (*volatile running)(const char *) = run;

int main(void)
{
    struct text text = {0, {0}};
    if (!fgets(text.bytes, sizeof text.bytes, stdin))
        return 1;
    text.length = strlen(text.bytes);
    struct text back = reversing(reversed(reversing(text)));
    printf("%s %ld %ld %c\n", back.bytes, running(text.bytes), run(back.bytes), text.bytes[0]);
    printf("%ld %ld\n", summing(4, text.bytes[0], 2.5, 7, 4.0), sum(3, 1, 2.0, text.bytes[0]));
    qsort(text.bytes, text.length, 1, compare);
    puts(text.bytes);
    if (summing == sum && running == run)
        puts("the same functions");
    return 0;
}
