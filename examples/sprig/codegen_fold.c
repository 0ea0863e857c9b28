/* Constant folding: replaces expressions whose value is known by that value.
 *
 * What would be an error at run time is left as it is.
 */
#include "codegen.h"

static void become(struct node *node, const struct node *other)
{
    struct node *next = node->next;
    *node = *other;
    node->next = next;
}

static void become_number(struct node *node, int64_t number)
{
    node->kind = NODE_NUMBER;
    node->number = number;
}

bool is_constant(const struct node *node)
{
    return node->kind == NODE_NUMBER || node->kind == NODE_STRING || node->kind == NODE_NIL;
}

bool constant_is_true(const struct node *constant)
{
    switch (constant->kind) {
    case NODE_NUMBER: return constant->number != 0;
    case NODE_STRING: return constant->text.length != 0;
    default: return false;
    }
}

static void fold_unary(struct node *node)
{
    const struct node *operand = node->child[0];
    if (node->op == OP_NOT && is_constant(operand))
        become_number(node, !constant_is_true(operand));
    else if (node->op == OP_NEGATE && operand->kind == NODE_NUMBER)
        become_number(node, integer_operation(OP_SUBTRACT, 0, operand->number));
    else if (node->op == OP_INVERT && operand->kind == NODE_NUMBER)
        become_number(node, ~operand->number);
}

/* A division by zero is left for the machine to report. */
static void fold_binary(struct node *node)
{
    const struct node *left = node->child[0], *right = node->child[1];
    if (left->kind != NODE_NUMBER || right->kind != NODE_NUMBER)
        return;
    if (node->op == OP_DIVIDE && right->number == 0)
        return;
    become_number(node, integer_operation(node->op, left->number, right->number));
}

/* The value of && and || is that of the operand that decides. */
static void fold_logical(struct node *node)
{
    const struct node *left = node->child[0];
    if (is_constant(left))
        become(node, constant_is_true(left) == (node->kind == NODE_OR) ? left : node->child[1]);
}

static void fold_condition(struct node *node)
{
    const struct node *condition = node->child[0];
    if (is_constant(condition))
        become(node, constant_is_true(condition) ? node->child[1] : node->child[2]);
}

void fold(struct node *node)
{
    for (int i = 0; i < 4; i++) {
        for (struct node *child = node->child[i]; child; child = child->next)
            fold(child);
    }
    switch (node->kind) {
    case NODE_GROUP: become(node, node->child[0]); break;
    case NODE_UNARY: fold_unary(node); break;
    case NODE_BINARY: fold_binary(node); break;
    case NODE_AND:
    case NODE_OR: fold_logical(node); break;
    case NODE_CONDITION: fold_condition(node); break;
    default: break;
    }
}

