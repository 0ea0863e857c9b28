/* A bytecode interpreter that runs a counting loop: a switch in a loop over memory. */
#include <stdio.h>
enum { PUSH, ADD, SUB, DUP, JNZ, STORE, LOAD, HALT };
static const int code[] = { PUSH, 40000000, STORE, 0, LOAD, 0, PUSH, 1, SUB, 0, STORE, 0, LOAD, 0, JNZ, 4, HALT, 0 };
int main(void) {
    long stack[16], vars[4] = {0};
    int sp = 0, pc = 0;
    unsigned long steps = 0;
    for (;;) {
        int op = code[pc], arg = code[pc + 1];
        pc += 2; steps++;
        switch (op) {
        case PUSH: stack[sp++] = arg; break;
        case ADD: sp--; stack[sp - 1] += stack[sp]; break;
        case SUB: sp--; stack[sp - 1] -= stack[sp]; break;
        case DUP: stack[sp] = stack[sp - 1]; sp++; break;
        case JNZ: if (stack[--sp]) pc = arg; break;
        case STORE: vars[arg] = stack[--sp]; break;
        case LOAD: stack[sp++] = vars[arg]; break;
        case HALT: printf("%lu\n", steps); return 0;
        }
    }
}
