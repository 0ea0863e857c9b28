// Code without bitcode that sees more than it gets.
#include <stdlib.h>

extern unsigned char shared[];
struct list { struct list *next; unsigned char *text; };

static const unsigned char *kept;

int sees_variable(void) { return shared[0] == 'x'; }
void keeps(const unsigned char *text) { kept = text; }
int sees_kept(void) { return *kept == 'x'; }
int sees_far(struct list *list) { return list->next->next->text[0] == 'x'; }
int sees_late(const unsigned char *text) { return text[5000] == 'x'; }
int sees_nothing(const int *numbers, int count) { return numbers[count - 1]; }
void releases(void *memory) { free(memory); }
void *allocates(unsigned long size) { return malloc(size); }
