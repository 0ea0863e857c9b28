/* What the files of the code generator share. */
#ifndef CODEGEN_H
#define CODEGEN_H

#include "sprig.h"

enum { NO_TARGET = -1 };

struct variable {
    struct text name;
    int depth; /* 0: global */
    int slot;
    struct variable *outer;
};

/* A jump whose target is not known yet. */
struct patch {
    int at;
    struct patch *next;
};

/* What break leaves and continue repeats. */
struct context {
    bool is_switch;
    int continue_target; /* NO_TARGET: not known before the end of the body */
    struct patch *breaks, *continues;
    struct context *outer;
};

struct generator {
    struct program *program;
    struct function *function;
    struct variable *variables; /* innermost first */
    struct context *context;
    int depth, slots, line;
};

struct builtin {
    const char *name;
    int parameters;
    enum opcode op;
};

/* ---- codegen_code.c ---- */

_Noreturn void reject(const struct node *node, const char *what);
void *resize(void *memory, size_t size);
int here(const struct generator *generator);
int emit(struct generator *generator, enum opcode op, int64_t operand);
void emit_string(struct generator *generator, const struct node *node);
void emit_open_jump(struct generator *generator, enum opcode op, struct patch **list);
void free_patches(struct patch **list);
void land(struct generator *generator, struct patch **list);

int new_slot(struct generator *generator);
struct variable *declare_variable(struct generator *generator, const struct node *node, const char *complaint);
struct variable *resolve_variable(const struct generator *generator, const struct node *node);
void load_variable(struct generator *generator, const struct variable *variable);
void store_variable(struct generator *generator, const struct variable *variable);
struct function *find_function(const struct generator *generator, struct text name);
const struct builtin *find_builtin(struct text name);
void open_scope(struct generator *generator);
void close_scope(struct generator *generator);

/* ---- codegen_fold.c ---- */

bool is_constant(const struct node *node);
bool constant_is_true(const struct node *constant);
void fold(struct node *node);

/* ---- codegen_expressions.c ---- */

/* The expression is folded already; the other two fold it first. */
void value(struct generator *generator, struct node *node);
void expression(struct generator *generator, struct node *node);
void condition(struct generator *generator, struct node *node, bool wanted, struct patch **list);

#endif
