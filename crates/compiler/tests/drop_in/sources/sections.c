#include <stdio.h>
int missing_in_this_program(void);
int dropped_by_the_linker(void) { return missing_in_this_program(); }
int main(void) {
    puts("kept");
    return 0;
}
