// The same with a hash that keeps a state, in parts: it writes memory, but only its own, and mixes thoroughly.
//@ gives-up: result of a hash
//@ seed: "four"
//@ max-len: 8
//@ max-runs: 60
#include <stdio.h>
#include <string.h>

struct state {
    unsigned a, b;
    unsigned char waiting[4], *next;
};

static void mix(struct state *state)
{
    unsigned word;
    memcpy(&word, state->waiting, sizeof word);
    for (int round = 0; round < 3; round++) {
        state->a += word ^ state->b;
        state->b ^= state->a << 7 | state->a >> 25;
        state->a ^= state->b >> 11;
        state->b += state->a << 5;
    }
    state->next = state->waiting;
}

static void update(struct state *state, const char *text, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        *state->next++ = text[i];
        if (state->next == state->waiting + sizeof state->waiting)
            mix(state);
    }
}

static unsigned finish(struct state *state)
{
    mix(state);
    return state->a ^ state->b;
}

static unsigned text_hash(const char *text, unsigned size)
{
    struct state state = {1, 2, {0}, 0};
    state.next = state.waiting;
    update(&state, text, size);
    return finish(&state);
}

static const char *const keywords[] = {"case", "else", "then", "loop"};

int main(void)
{
    unsigned hashes[4];
    char word[9] = {0};
    for (int i = 0; i < 4; i++)
        hashes[i] = text_hash(keywords[i], 4);
    if (fread(word, 1, 8, stdin) != 4)
        return 1;
    unsigned hash = text_hash(word, 4);
    if (hash == hashes[0])
        return 2;
    if (hash == hashes[1])
        return 3;
    if (hash == hashes[2])
        return 4;
    if (hash == hashes[3])
        return 5;
    return 0;
}
