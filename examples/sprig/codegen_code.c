/* The code generator's bookkeeping: instructions, jumps whose target is not known yet, and names.
 *
 * It knows nothing of the syntax but where a name was written.
 */
#include "codegen.h"

#include <stdlib.h>
#include <string.h>

static const struct builtin builtins[] = {
    {"len", 1, OP_LENGTH},
    {"push", 2, OP_PUSH},
    {"str", 1, OP_TEXT},
    {"ord", 1, OP_CODE},
    {"chr", 1, OP_CHARACTER},
};

_Noreturn void reject(const struct node *node, const char *what)
{
    fail(EXIT_SEMANTIC, node->line, "%s: %.*s", what, (int)node->text.length, node->text.bytes ? node->text.bytes : "");
}

/* ---- code ---- */

void *resize(void *memory, size_t size)
{
    memory = realloc(memory, size);
    if (!memory)
        fail(EXIT_USAGE, 0, "out of memory");
    return memory;
}

int here(const struct generator *generator)
{
    return generator->program->length;
}

int emit(struct generator *generator, enum opcode op, int64_t operand)
{
    struct program *program = generator->program;
    if (program->length == program->capacity) {
        program->capacity = program->capacity ? 2 * program->capacity : 64;
        program->code = resize(program->code, (size_t)program->capacity * sizeof *program->code);
    }
    program->code[program->length] = (struct instruction){op, generator->line, operand, NULL};
    return program->length++;
}

void emit_string(struct generator *generator, const struct node *node)
{
    int at = emit(generator, OP_STRING, 0);
    generator->program->code[at].string = &node->text;
}

void emit_open_jump(struct generator *generator, enum opcode op, struct patch **list)
{
    struct patch *patch = resize(NULL, sizeof *patch);
    patch->at = emit(generator, op, NO_TARGET);
    patch->next = *list;
    *list = patch;
}

void free_patches(struct patch **list)
{
    while (*list) {
        struct patch *next = (*list)->next;
        free(*list);
        *list = next;
    }
}

/* Lets all jumps of the list lead to the next instruction. */
void land(struct generator *generator, struct patch **list)
{
    for (struct patch *patch = *list; patch; patch = patch->next)
        generator->program->code[patch->at].operand = here(generator);
    free_patches(list);
}

/* ---- names ---- */

static struct variable *find_variable(const struct generator *generator, struct text name)
{
    struct variable *variable = generator->variables;
    while (variable && !same_text(variable->name, name))
        variable = variable->outer;
    return variable;
}

int new_slot(struct generator *generator)
{
    int slot = generator->slots++;
    if (generator->slots > generator->function->slots)
        generator->function->slots = generator->slots;
    return slot;
}

struct variable *declare_variable(struct generator *generator, const struct node *node, const char *complaint)
{
    struct variable *variable = find_variable(generator, node->text);
    if (variable && variable->depth == generator->depth)
        reject(node, complaint);
    variable = allocate(sizeof *variable);
    variable->name = node->text;
    variable->depth = generator->depth;
    variable->slot = generator->depth == 0 ? generator->program->global_count++ : new_slot(generator);
    variable->outer = generator->variables;
    generator->variables = variable;
    return variable;
}

void load_variable(struct generator *generator, const struct variable *variable)
{
    emit(generator, variable->depth == 0 ? OP_LOAD_GLOBAL : OP_LOAD_LOCAL, variable->slot);
}

void store_variable(struct generator *generator, const struct variable *variable)
{
    emit(generator, variable->depth == 0 ? OP_STORE_GLOBAL : OP_STORE_LOCAL, variable->slot);
}

struct variable *resolve_variable(const struct generator *generator, const struct node *node)
{
    struct variable *variable = find_variable(generator, node->text);
    if (!variable)
        reject(node, "undeclared variable");
    return variable;
}

struct function *find_function(const struct generator *generator, struct text name)
{
    struct program *program = generator->program;
    for (int i = 1; i < program->function_count; i++) {
        if (same_text(program->functions[i].name, name))
            return &program->functions[i];
    }
    return NULL;
}

const struct builtin *find_builtin(struct text name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        if (same_text(name, (struct text){builtins[i].name, strlen(builtins[i].name)}))
            return &builtins[i];
    }
    return NULL;
}

void open_scope(struct generator *generator)
{
    generator->depth++;
}

void close_scope(struct generator *generator)
{
    while (generator->variables && generator->variables->depth == generator->depth)
        generator->variables = generator->variables->outer;
    generator->depth--;
}

