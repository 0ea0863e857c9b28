/* Code for expressions: each leaves its value on the stack, or is a condition that jumps. */
#include "codegen.h"

/* The number of values that the list leaves on the stack. */
static int values(struct generator *generator, struct node *first)
{
    int count = 0;
    for (; first; first = first->next, count++)
        value(generator, first);
    return count;
}

static void check_count(const struct node *call, int given, int wanted)
{
    if (given != wanted)
        reject(call, "wrong number of arguments");
}

static void call(struct generator *generator, struct node *node)
{
    const struct builtin *builtin = find_builtin(node->text);
    const struct function *function = find_function(generator, node->text);
    if (!builtin && !function)
        reject(node, "undeclared function");
    int count = values(generator, node->child[0]);
    generator->line = node->line;
    if (builtin) {
        check_count(node, count, builtin->parameters);
        emit(generator, builtin->op, 0);
    } else {
        check_count(node, count, function->parameters);
        emit(generator, OP_CALL, function - generator->program->functions);
    }
}

/* Jumps if the condition is `wanted`, else goes on. */
static void branch(struct generator *generator, struct node *node, bool wanted, struct patch **list)
{
    struct patch *past = NULL;
    if (is_constant(node)) {
        if (constant_is_true(node) == wanted)
            emit_open_jump(generator, OP_JUMP, list);
    } else if (node->kind == NODE_UNARY && node->op == OP_NOT) {
        branch(generator, node->child[0], !wanted, list);
    } else if (node->kind == (wanted ? NODE_OR : NODE_AND)) {
        branch(generator, node->child[0], wanted, list);
        branch(generator, node->child[1], wanted, list);
    } else if (node->kind == NODE_AND || node->kind == NODE_OR) {
        branch(generator, node->child[0], !wanted, &past);
        branch(generator, node->child[1], wanted, list);
        land(generator, &past);
    } else {
        value(generator, node);
        emit_open_jump(generator, wanted ? OP_JUMP_TRUE : OP_JUMP_FALSE, list);
    }
}

static void logical(struct generator *generator, struct node *node)
{
    struct patch *decided = NULL;
    value(generator, node->child[0]);
    emit(generator, OP_COPY, 0);
    emit_open_jump(generator, node->op, &decided);
    emit(generator, OP_POP, 0);
    value(generator, node->child[1]);
    land(generator, &decided);
}

static void choice(struct generator *generator, struct node *node)
{
    struct patch *otherwise = NULL, *end = NULL;
    branch(generator, node->child[0], false, &otherwise);
    value(generator, node->child[1]);
    emit_open_jump(generator, OP_JUMP, &end);
    land(generator, &otherwise);
    value(generator, node->child[2]);
    land(generator, &end);
}

/* The operands, then the operation on them. */
static void operation(struct generator *generator, struct node *node, enum opcode op)
{
    value(generator, node->child[0]);
    if (node->child[1])
        value(generator, node->child[1]);
    generator->line = node->line;
    emit(generator, op, 0);
}

/* Leaves the value of a folded expression on the stack. */
void value(struct generator *generator, struct node *node)
{
    generator->line = node->line;
    switch (node->kind) {
    case NODE_NUMBER: emit(generator, OP_NUMBER, node->number); break;
    case NODE_STRING: emit_string(generator, node); break;
    case NODE_NIL: emit(generator, OP_NIL, 0); break;
    case NODE_NAME: load_variable(generator, resolve_variable(generator, node)); break;
    case NODE_CALL: call(generator, node); break;
    case NODE_ARRAY: emit(generator, OP_ARRAY, values(generator, node->child[0])); break;
    case NODE_INDEX: operation(generator, node, OP_INDEX); break;
    case NODE_AND:
    case NODE_OR: logical(generator, node); break;
    case NODE_CONDITION: choice(generator, node); break;
    default: operation(generator, node, node->op); break;
    }
}

void expression(struct generator *generator, struct node *node)
{
    fold(node);
    value(generator, node);
}

void condition(struct generator *generator, struct node *node, bool wanted, struct patch **list)
{
    fold(node);
    branch(generator, node, wanted, list);
}

