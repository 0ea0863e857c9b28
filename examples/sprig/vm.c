/* The machine: runs bytecode on a stack of values.
 *
 * Steps, calls, the stack and the heap are limited, so that every program ends; each limit and each wrong operand is
 * reported with exit code 1. It trusts the code generator for the form of the code: no jump, slot or count is checked.
 */
#include "sprig.h"

#include <inttypes.h>
#include <string.h>

enum { STEP_LIMIT = 100000, STACK_LIMIT = 1024, CALL_LIMIT = 64, HEAP_LIMIT = 1 << 20, PRINT_DEPTH = 3 };

enum type { TYPE_NIL, TYPE_NUMBER, TYPE_STRING, TYPE_ARRAY };

struct value {
    enum type type;
    union {
        int64_t number;
        const struct text *string;
        struct array *array;
    };
};

struct array {
    struct value *items;
    int64_t count, capacity;
};

struct frame {
    int return_address;
    int base; /* of its slots in the stack */
};

struct machine {
    const struct program *program;
    int position, line;
    int64_t steps, heap;
    struct value stack[STACK_LIMIT];
    int top;
    struct frame frames[CALL_LIMIT];
    int frame_count;
    struct value *globals;
};

static _Noreturn void stop(const struct machine *machine, const char *reason)
{
    fail(EXIT_RUNTIME, machine->line, "runtime error: %s", reason);
}

/* ---- limits ---- */

static void spend(struct machine *machine, int64_t steps)
{
    machine->steps += steps;
    if (machine->steps > STEP_LIMIT)
        stop(machine, "too many steps");
}

static void *heap_allocate(struct machine *machine, size_t size)
{
    machine->heap += (int64_t)size;
    if (machine->heap > HEAP_LIMIT)
        stop(machine, "out of memory");
    return allocate(size);
}

static void push(struct machine *machine, struct value value)
{
    if (machine->top == STACK_LIMIT)
        stop(machine, "stack overflow");
    machine->stack[machine->top++] = value;
}

static struct value pop(struct machine *machine)
{
    return machine->stack[--machine->top];
}

/* ---- values ---- */

static struct value number(int64_t value)
{
    return (struct value){.type = TYPE_NUMBER, .number = value};
}

static struct value string(struct machine *machine, const char *bytes, size_t length)
{
    struct text *text = heap_allocate(machine, sizeof *text + length);
    char *copy = (char *)(text + 1);
    memcpy(copy, bytes, length);
    *text = (struct text){copy, length};
    return (struct value){.type = TYPE_STRING, .string = text};
}

static struct value need(struct machine *machine, enum type type)
{
    struct value value = pop(machine);
    if (value.type != type)
        stop(machine, "operand of a wrong type");
    return value;
}

static bool is_true(struct value value)
{
    switch (value.type) {
    case TYPE_NUMBER: return value.number != 0;
    case TYPE_STRING: return value.string->length != 0;
    case TYPE_ARRAY: return value.array->count != 0;
    default: return false;
    }
}

static bool same(struct value left, struct value right)
{
    if (left.type != right.type)
        return false;
    switch (left.type) {
    case TYPE_NUMBER: return left.number == right.number;
    case TYPE_STRING: return same_text(*left.string, *right.string);
    case TYPE_ARRAY: return left.array == right.array;
    default: return true;
    }
}

/* ---- arithmetic ---- */

static int64_t divide(int64_t left, int64_t right)
{
    return right == -1 ? (int64_t)(0 - (uint64_t)left) : left / right;
}

static int64_t modulo(int64_t left, int64_t right)
{
    return right == -1 ? 0 : left % right;
}

/* Overflow wraps around; shifts look at the lowest six bits of the distance. */
int64_t integer_operation(enum opcode op, int64_t left, int64_t right)
{
    uint64_t a = (uint64_t)left, b = (uint64_t)right;
    switch (op) {
    case OP_ADD: return (int64_t)(a + b);
    case OP_SUBTRACT: return (int64_t)(a - b);
    case OP_MULTIPLY: return (int64_t)(a * b);
    case OP_DIVIDE: return divide(left, right);
    case OP_MODULO: return modulo(left, right);
    case OP_BIT_AND: return left & right;
    case OP_BIT_OR: return left | right;
    case OP_BIT_XOR: return left ^ right;
    case OP_SHIFT_LEFT: return (int64_t)(a << (b & 63));
    case OP_SHIFT_RIGHT: return left >> (b & 63);
    case OP_EQUAL: return left == right;
    case OP_NOT_EQUAL: return left != right;
    case OP_LESS: return left < right;
    case OP_LESS_EQUAL: return left <= right;
    case OP_GREATER: return left > right;
    default: return left >= right;
    }
}

static struct value join(struct machine *machine, const struct text *left, const struct text *right)
{
    struct text *text = heap_allocate(machine, sizeof *text + left->length + right->length);
    char *bytes = (char *)(text + 1);
    memcpy(bytes, left->bytes, left->length);
    memcpy(bytes + left->length, right->bytes, right->length);
    *text = (struct text){bytes, left->length + right->length};
    return (struct value){.type = TYPE_STRING, .string = text};
}

/* Negative, zero or positive, by bytes and then by length. */
static int order(const struct text *left, const struct text *right)
{
    size_t shorter = left->length < right->length ? left->length : right->length;
    int difference = memcmp(left->bytes, right->bytes, shorter);
    return difference ? difference : (left->length > right->length) - (left->length < right->length);
}

static struct value string_operation(struct machine *machine, enum opcode op, struct value left, struct value right)
{
    if (op == OP_ADD)
        return join(machine, left.string, right.string);
    if (op < OP_LESS)
        stop(machine, "operand of a wrong type");
    return number(integer_operation(op, order(left.string, right.string), 0));
}

static struct value binary(struct machine *machine, enum opcode op)
{
    struct value right = pop(machine), left = pop(machine);
    if (op == OP_EQUAL || op == OP_NOT_EQUAL)
        return number(same(left, right) == (op == OP_EQUAL));
    if (left.type == TYPE_STRING && right.type == TYPE_STRING)
        return string_operation(machine, op, left, right);
    if (left.type != TYPE_NUMBER || right.type != TYPE_NUMBER)
        stop(machine, "operand of a wrong type");
    if ((op == OP_DIVIDE || op == OP_MODULO) && right.number == 0)
        stop(machine, "division by zero");
    return number(integer_operation(op, left.number, right.number));
}

/* ---- arrays and strings ---- */

static struct value new_array(struct machine *machine, int64_t count)
{
    struct array *array = heap_allocate(machine, sizeof *array);
    array->items = heap_allocate(machine, (size_t)count * sizeof *array->items);
    array->count = array->capacity = count;
    for (int64_t i = count; i-- > 0;)
        array->items[i] = pop(machine);
    return (struct value){.type = TYPE_ARRAY, .array = array};
}

static void append(struct machine *machine, struct array *array, struct value value)
{
    if (array->count == array->capacity) {
        int64_t capacity = 2 * array->capacity + 4;
        struct value *items = heap_allocate(machine, (size_t)capacity * sizeof *items);
        for (int64_t i = 0; i < array->count; i++)
            items[i] = array->items[i];
        array->items = items;
        array->capacity = capacity;
    }
    array->items[array->count++] = value;
}

static int64_t length(struct machine *machine, struct value value)
{
    if (value.type == TYPE_ARRAY)
        return value.array->count;
    if (value.type == TYPE_STRING)
        return (int64_t)value.string->length;
    stop(machine, "operand of a wrong type");
}

static int64_t checked_index(struct machine *machine, struct value sequence, struct value index)
{
    int64_t count = length(machine, sequence);
    if (index.type != TYPE_NUMBER || index.number < 0 || index.number >= count)
        stop(machine, "index out of range");
    return index.number;
}

static struct value element(struct machine *machine)
{
    struct value index = pop(machine), sequence = pop(machine);
    int64_t at = checked_index(machine, sequence, index);
    if (sequence.type == TYPE_ARRAY)
        return sequence.array->items[at];
    return string(machine, sequence.string->bytes + at, 1);
}

static void store_element(struct machine *machine)
{
    struct value value = pop(machine), index = pop(machine), array = need(machine, TYPE_ARRAY);
    array.array->items[checked_index(machine, array, index)] = value;
}

static struct value push_builtin(struct machine *machine)
{
    struct value value = pop(machine), array = need(machine, TYPE_ARRAY);
    append(machine, array.array, value);
    return array;
}

static struct value text_builtin(struct machine *machine)
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%" PRId64, need(machine, TYPE_NUMBER).number);
    return string(machine, digits, (size_t)count);
}

static struct value code_builtin(struct machine *machine)
{
    const struct text *text = need(machine, TYPE_STRING).string;
    if (text->length != 1)
        stop(machine, "ord needs one character");
    return number((unsigned char)text->bytes[0]);
}

static struct value character_builtin(struct machine *machine)
{
    int64_t code = need(machine, TYPE_NUMBER).number;
    if (code < 0 || code > 255)
        stop(machine, "chr needs a number from 0 to 255");
    char byte = (char)code;
    return string(machine, &byte, 1);
}

/* ---- output ---- */

static void print(struct machine *machine, struct value value, int depth);

/* An array may contain itself: the depth is limited, and each element is a step. */
static void print_array(struct machine *machine, const struct array *array, int depth)
{
    if (depth == PRINT_DEPTH) {
        fputs("...", stdout);
        return;
    }
    putchar('[');
    for (int64_t i = 0; i < array->count; i++) {
        if (i > 0)
            fputs(", ", stdout);
        print(machine, array->items[i], depth + 1);
    }
    putchar(']');
}

static void print(struct machine *machine, struct value value, int depth)
{
    spend(machine, 1);
    switch (value.type) {
    case TYPE_NUMBER: printf("%" PRId64, value.number); break;
    case TYPE_STRING:
        spend(machine, (int64_t)value.string->length);
        fwrite(value.string->bytes, 1, value.string->length, stdout);
        break;
    case TYPE_ARRAY: print_array(machine, value.array, depth); break;
    default: fputs("nil", stdout); break;
    }
}

/* ---- control ---- */

static struct value *slot(struct machine *machine, int64_t index)
{
    return &machine->stack[machine->frames[machine->frame_count - 1].base + index];
}

/* The arguments are on the stack already and become the first slots. */
static void call(struct machine *machine, const struct function *function, int return_address)
{
    if (machine->frame_count == CALL_LIMIT)
        stop(machine, "calls nested too deeply");
    machine->frames[machine->frame_count++] = (struct frame){return_address, machine->top - function->parameters};
    for (int i = function->parameters; i < function->slots; i++)
        push(machine, (struct value){0});
    machine->position = function->entry;
}

static void return_from_call(struct machine *machine)
{
    struct value result = pop(machine);
    struct frame frame = machine->frames[--machine->frame_count];
    machine->top = frame.base;
    machine->position = frame.return_address;
    push(machine, result);
}

static void copy_two(struct machine *machine)
{
    push(machine, machine->stack[machine->top - 2]);
    push(machine, machine->stack[machine->top - 2]);
}

static void execute(struct machine *machine, const struct instruction *instruction)
{
    int64_t operand = instruction->operand;
    switch (instruction->op) {
    case OP_NUMBER: push(machine, number(operand)); break;
    case OP_STRING: push(machine, (struct value){.type = TYPE_STRING, .string = instruction->string}); break;
    case OP_NIL: push(machine, (struct value){0}); break;
    case OP_POP: pop(machine); break;
    case OP_COPY: push(machine, machine->stack[machine->top - 1]); break;
    case OP_COPY_TWO: copy_two(machine); break;
    case OP_LOAD_LOCAL: push(machine, *slot(machine, operand)); break;
    case OP_STORE_LOCAL: *slot(machine, operand) = pop(machine); break;
    case OP_LOAD_GLOBAL: push(machine, machine->globals[operand]); break;
    case OP_STORE_GLOBAL: machine->globals[operand] = pop(machine); break;
    case OP_ARRAY: push(machine, new_array(machine, operand)); break;
    case OP_INDEX: push(machine, element(machine)); break;
    case OP_STORE_INDEX: store_element(machine); break;
    case OP_NEGATE: push(machine, number(integer_operation(OP_SUBTRACT, 0, need(machine, TYPE_NUMBER).number))); break;
    case OP_INVERT: push(machine, number(~need(machine, TYPE_NUMBER).number)); break;
    case OP_NOT: push(machine, number(!is_true(pop(machine)))); break;
    case OP_JUMP: machine->position = (int)operand; break;
    case OP_JUMP_FALSE:
        if (!is_true(pop(machine)))
            machine->position = (int)operand;
        break;
    case OP_JUMP_TRUE:
        if (is_true(pop(machine)))
            machine->position = (int)operand;
        break;
    case OP_CALL: call(machine, &machine->program->functions[operand], machine->position); break;
    case OP_RETURN: return_from_call(machine); break;
    case OP_PRINT:
        print(machine, pop(machine), 0);
        if (operand)
            putchar(' ');
        break;
    case OP_PRINT_END: putchar('\n'); break;
    case OP_LENGTH: push(machine, number(length(machine, pop(machine)))); break;
    case OP_PUSH: push(machine, push_builtin(machine)); break;
    case OP_TEXT: push(machine, text_builtin(machine)); break;
    case OP_CODE: push(machine, code_builtin(machine)); break;
    case OP_CHARACTER: push(machine, character_builtin(machine)); break;
    default: push(machine, binary(machine, instruction->op)); break;
    }
}

void run(const struct program *program)
{
    static struct machine machine;
    const struct instruction *instruction;
    machine.program = program;
    machine.globals = allocate((size_t)program->global_count * sizeof *machine.globals);
    call(&machine, &program->functions[0], 0);
    while ((instruction = &program->code[machine.position])->op != OP_HALT) {
        machine.position++;
        machine.line = instruction->line;
        spend(&machine, 1);
        execute(&machine, instruction);
    }
}
