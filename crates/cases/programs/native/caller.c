// Code without bitcode that calls the program back.
#include <unistd.h>

struct large { int numbers[10]; };

int shows(void);
void fills(char *to);

int calls_by_name(void) { return shows() == 'x'; }
int lends_by_name(void) { char byte = 0; fills(&byte); return byte == 'x'; }
int hands_out(void (*call)(int *)) { int number = 0; call(&number); return number == 'x'; }
int kept(void (*call)(void), int *number) { call(); return *number == 'x'; }
int takes_struct(struct large (*call)(void)) { return call().numbers[3] == 'x'; }
int takes_pointer(char *(*call)(void)) { return *call() == 'x'; }

int reads_before(void (*call)(void))
{
    char byte = 0;
    if (read(0, &byte, 1) != 1)
        return 0;
    call();
    return byte == 'x';
}
