// Several bugs, each in a function of its own: the name of the function is the name of the bug. The
// build with -DTELLING does nothing bad, and prints the names of the bugs that the input shows.
#include <stdio.h>
#include <stdlib.h>

static volatile int sink;

#ifdef TELLING
#define SHOWS(condition, act) do { if (condition) puts(__func__); else { act; } } while (0)
#define ENDS(condition, act) do { if (condition) { puts(__func__); exit(0); } else { act; } } while (0)
#else
#define SHOWS(condition, act) do { act; } while (0)
#define ENDS(condition, act) do { act; } while (0)
#endif

static void divides(int by)
{
    ENDS(by == 0, sink = 7 / by);
}

static void overruns(const char *text, int at)
{
    SHOWS(at >= 8, sink = text[at]);
}

static void overflows(int value)
{
    SHOWS(value >= 22, sink = value * 99999999);
}

// Only a check sees the first bug; the second one comes with every input that has the first.
static void lurks(int by)
{
    SHOWS(by > 31, sink = 1 << by);
}

static void falls(int by)
{
    ENDS(by > 31, if (by > 31) abort());
}

// No branch and no bound tells it from what is right.
static void stales(int value)
{
    char *blocks[2] = {calloc(1, 8), calloc(1, 8)};
    free(blocks[1]);
    SHOWS(value & 1, sink = blocks[value & 1][0]);
}

static void points(int value)
{
    int there = 1, *where = value == 'p' ? NULL : &there;
    ENDS(!where, sink = *where);
}

static void spins(int value)
{
    ENDS(value == 's', while (value == 's') sink++);
}

// Paths that are worth an input each.
static void classify(int c)
{
    if (c < 0)
        sink = 1;
    else if (c < ' ')
        sink = 2;
    else if (c < '0')
        sink = c == '+' ? 3 : c == '-' ? 4 : 5;
    else if (c <= '9')
        sink = c == '7' ? 6 : 7;
    else if (c < 'a')
        sink = c == '[' ? 8 : c == ']' ? 9 : 10;
    else
        sink = 11;
}

int main(void)
{
    int kind = getchar(), value = getchar(), more = getchar();
    char *text = calloc(1, 8);
    classify(kind);
    switch (kind) {
    case 'd':
        divides(value - '0');
        break;
    case 'r':
        if (value >= '0' && value <= '9')
            overruns(text, value - '0');
        break;
    case 'o':
        if (value >= 0 && value <= '0')
            overflows(value);
        break;
    case 't':
        if (value >= 0) {
            lurks(value);
            falls(value);
        }
        break;
    case 'u':
        if (value >= 0)
            stales(value);
        break;
    case 'p':
        points(value);
        break;
    case 'h':
        spins(value);
        break;
    default:
        classify(value);
        if (value == '(')
            classify(more);
    }
    return 0;
}
