/* The code generator: from the syntax tree to bytecode of a stack machine.
 *
 * This part is about statements and functions. Together with codegen_*.c it resolves names, checks what a grammar
 * cannot say (exit code 3) and folds constants. It never runs code and never changes the tree but by folding.
 */
#include "codegen.h"

#include <stdlib.h>

enum { FIRST_LABELS = 4 };

/* The constants of a switch and where their cases start. */
struct label {
    const struct node *constant;
    int target;
};

struct label_table {
    struct label *labels;
    int count, capacity;
};

static void statement(struct generator *generator, struct node *node);
static void statements(struct generator *generator, struct node *first);

/* ---- simple statements ---- */

static void let(struct generator *generator, struct node *node)
{
    if (node->child[0])
        expression(generator, node->child[0]);
    else
        emit(generator, OP_NIL, 0);
    store_variable(generator, declare_variable(generator, node, "declared twice"));
}

static void assign_variable(struct generator *generator, struct node *node)
{
    const struct variable *variable = resolve_variable(generator, node->child[0]);
    if (node->compound)
        load_variable(generator, variable);
    expression(generator, node->child[1]);
    if (node->compound)
        emit(generator, node->op, 0);
    store_variable(generator, variable);
}

static void assign_element(struct generator *generator, struct node *node)
{
    struct node *target = node->child[0];
    fold(target);
    value(generator, target->child[0]);
    value(generator, target->child[1]);
    if (node->compound) {
        emit(generator, OP_COPY_TWO, 0);
        emit(generator, OP_INDEX, 0);
    }
    expression(generator, node->child[1]);
    if (node->compound)
        emit(generator, node->op, 0);
    emit(generator, OP_STORE_INDEX, 0);
}

static void assign(struct generator *generator, struct node *node)
{
    if (node->child[0]->kind == NODE_NAME)
        assign_variable(generator, node);
    else
        assign_element(generator, node);
}

static void print(struct generator *generator, struct node *node)
{
    for (struct node *item = node->child[0]; item; item = item->next) {
        expression(generator, item);
        emit(generator, OP_PRINT, item->next != NULL);
    }
    emit(generator, OP_PRINT_END, 0);
}

static void return_statement(struct generator *generator, struct node *node)
{
    if (generator->function == generator->program->functions)
        fail(EXIT_SEMANTIC, node->line, "return outside a function");
    if (node->child[0])
        expression(generator, node->child[0]);
    else
        emit(generator, OP_NIL, 0);
    emit(generator, OP_RETURN, 0);
}

static void block(struct generator *generator, struct node *node)
{
    int slots = generator->slots;
    open_scope(generator);
    statements(generator, node->child[0]);
    close_scope(generator);
    generator->slots = slots;
}

/* ---- statements that jump ---- */

static void if_statement(struct generator *generator, struct node *node)
{
    struct patch *otherwise = NULL, *end = NULL;
    condition(generator, node->child[0], false, &otherwise);
    statement(generator, node->child[1]);
    if (node->child[2]) {
        emit_open_jump(generator, OP_JUMP, &end);
        land(generator, &otherwise);
        statement(generator, node->child[2]);
    }
    land(generator, &otherwise);
    land(generator, &end);
}

static void enter(struct generator *generator, struct context *context)
{
    context->outer = generator->context;
    generator->context = context;
}

/* A switch repeats nothing: jumps that continue from it wait for the loop around it. */
static void hand_outwards(struct context *context)
{
    struct patch **end = &context->outer->continues;
    while (*end)
        end = &(*end)->next;
    *end = context->continues;
}

static void leave(struct generator *generator)
{
    struct context *context = generator->context;
    land(generator, &context->breaks);
    if (context->is_switch && context->outer)
        hand_outwards(context);
    free_patches(&context->continues);
    generator->context = context->outer;
}

static void while_statement(struct generator *generator, struct node *node)
{
    struct context loop = {.continue_target = here(generator)};
    enter(generator, &loop);
    condition(generator, node->child[0], false, &loop.breaks);
    statement(generator, node->child[1]);
    emit(generator, OP_JUMP, loop.continue_target);
    leave(generator);
}

static void do_statement(struct generator *generator, struct node *node)
{
    struct context loop = {.continue_target = NO_TARGET};
    int top = here(generator);
    enter(generator, &loop);
    statement(generator, node->child[0]);
    land(generator, &loop.continues);
    condition(generator, node->child[1], false, &loop.breaks);
    emit(generator, OP_JUMP, top);
    leave(generator);
}

static void for_loop(struct generator *generator, struct node *node)
{
    struct context loop = {.continue_target = NO_TARGET};
    int top = here(generator);
    enter(generator, &loop);
    if (node->child[1])
        condition(generator, node->child[1], false, &loop.breaks);
    statement(generator, node->child[3]);
    land(generator, &loop.continues);
    if (node->child[2])
        statement(generator, node->child[2]);
    emit(generator, OP_JUMP, top);
    leave(generator);
}

static void for_statement(struct generator *generator, struct node *node)
{
    int slots = generator->slots;
    open_scope(generator);
    if (node->child[0])
        statement(generator, node->child[0]);
    for_loop(generator, node);
    close_scope(generator);
    generator->slots = slots;
}

/* The test of a loop over a range or a sequence, and the value of its next element. */
static void next_element(struct generator *generator, bool range, int position, int end, struct patch **exit)
{
    emit(generator, OP_LOAD_LOCAL, position);
    emit(generator, OP_LOAD_LOCAL, end);
    if (!range)
        emit(generator, OP_LENGTH, 0);
    emit(generator, OP_LESS, 0);
    emit_open_jump(generator, OP_JUMP_FALSE, exit);
    if (!range)
        emit(generator, OP_LOAD_LOCAL, end);
    emit(generator, OP_LOAD_LOCAL, position);
    if (!range)
        emit(generator, OP_INDEX, 0);
}

/* `position` and `end` are hidden variables; without a range, `end` is the sequence itself. */
static void each_loop(struct generator *generator, struct node *node, int position, int end)
{
    struct context loop = {.continue_target = NO_TARGET};
    const struct variable *element = declare_variable(generator, node, "declared twice");
    int top = here(generator);
    enter(generator, &loop);
    next_element(generator, node->child[1], position, end, &loop.breaks);
    store_variable(generator, element);
    statement(generator, node->child[2]);
    land(generator, &loop.continues);
    emit(generator, OP_LOAD_LOCAL, position);
    emit(generator, OP_NUMBER, 1);
    emit(generator, OP_ADD, 0);
    emit(generator, OP_STORE_LOCAL, position);
    emit(generator, OP_JUMP, top);
    leave(generator);
}

static void each_statement(struct generator *generator, struct node *node)
{
    int slots = generator->slots, position = new_slot(generator), end = new_slot(generator);
    open_scope(generator);
    expression(generator, node->child[0]);
    if (node->child[1]) {
        emit(generator, OP_STORE_LOCAL, position);
        expression(generator, node->child[1]);
    } else {
        emit(generator, OP_NUMBER, 0);
        emit(generator, OP_STORE_LOCAL, position);
    }
    emit(generator, OP_STORE_LOCAL, end);
    each_loop(generator, node, position, end);
    close_scope(generator);
    generator->slots = slots;
}

static void break_statement(struct generator *generator, const struct node *node)
{
    if (!generator->context)
        fail(EXIT_SEMANTIC, node->line, "break outside a loop or switch");
    emit_open_jump(generator, OP_JUMP, &generator->context->breaks);
}

static void continue_statement(struct generator *generator, const struct node *node)
{
    struct context *loop = generator->context;
    while (loop && loop->is_switch)
        loop = loop->outer;
    if (!loop)
        fail(EXIT_SEMANTIC, node->line, "continue outside a loop");
    if (loop->continue_target != NO_TARGET)
        emit(generator, OP_JUMP, loop->continue_target);
    else
        emit_open_jump(generator, OP_JUMP, &generator->context->continues);
}

/* ---- switch ---- */

static bool same_constant(const struct node *a, const struct node *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == NODE_NUMBER ? a->number == b->number : same_text(a->text, b->text);
}

static void check_label(const struct label_table *table, const struct node *label)
{
    if (label->kind != NODE_NUMBER && label->kind != NODE_STRING)
        fail(EXIT_SEMANTIC, label->line, "a case label must be a constant number or string");
    for (int i = 0; i < table->count; i++) {
        if (same_constant(table->labels[i].constant, label))
            fail(EXIT_SEMANTIC, label->line, "case label used twice");
    }
}

static void add_label(struct label_table *table, const struct node *constant, int target)
{
    if (table->count > table->capacity) {
        table->capacity *= 2;
        table->labels = resize(table->labels, (size_t)table->capacity * sizeof *table->labels);
    }
    table->labels[table->count++] = (struct label){constant, target};
}

/* A case does not run on into the next one. */
static void case_clause(struct generator *generator, struct node *node, struct label_table *table, int *fallback)
{
    if (!node->child[0] && *fallback != NO_TARGET)
        fail(EXIT_SEMANTIC, node->line, "more than one default");
    if (!node->child[0])
        *fallback = here(generator);
    for (struct node *label = node->child[0]; label; label = label->next) {
        fold(label);
        check_label(table, label);
        add_label(table, label, here(generator));
    }
    open_scope(generator);
    statements(generator, node->child[1]);
    close_scope(generator);
    emit_open_jump(generator, OP_JUMP, &generator->context->breaks);
}

static void dispatch(struct generator *generator, const struct label_table *table, int subject, int fallback)
{
    for (int i = 0; i < table->count; i++) {
        emit(generator, OP_LOAD_LOCAL, subject);
        if (table->labels[i].constant->kind == NODE_STRING)
            emit_string(generator, table->labels[i].constant);
        else
            emit(generator, OP_NUMBER, table->labels[i].constant->number);
        emit(generator, OP_EQUAL, 0);
        emit(generator, OP_JUMP_TRUE, table->labels[i].target);
    }
    if (fallback != NO_TARGET)
        emit(generator, OP_JUMP, fallback);
}

/* The bodies come first, then the comparisons that choose one. */
static void switch_statement(struct generator *generator, struct node *node)
{
    struct label_table table = {resize(NULL, FIRST_LABELS * sizeof *table.labels), 0, FIRST_LABELS};
    struct context context = {.is_switch = true};
    struct patch *start = NULL;
    int slots = generator->slots, subject = new_slot(generator), fallback = NO_TARGET;
    expression(generator, node->child[0]);
    emit(generator, OP_STORE_LOCAL, subject);
    emit_open_jump(generator, OP_JUMP, &start);
    enter(generator, &context);
    for (struct node *clause = node->child[1]; clause; clause = clause->next)
        case_clause(generator, clause, &table, &fallback);
    land(generator, &start);
    dispatch(generator, &table, subject, fallback);
    leave(generator);
    free(table.labels);
    generator->slots = slots;
}

/* ---- programs ---- */

static void statement(struct generator *generator, struct node *node)
{
    generator->line = node->line;
    switch (node->kind) {
    case NODE_LET: let(generator, node); break;
    case NODE_ASSIGN: assign(generator, node); break;
    case NODE_PRINT: print(generator, node); break;
    case NODE_BLOCK: block(generator, node); break;
    case NODE_IF: if_statement(generator, node); break;
    case NODE_WHILE: while_statement(generator, node); break;
    case NODE_DO: do_statement(generator, node); break;
    case NODE_FOR: for_statement(generator, node); break;
    case NODE_EACH: each_statement(generator, node); break;
    case NODE_SWITCH: switch_statement(generator, node); break;
    case NODE_BREAK: break_statement(generator, node); break;
    case NODE_CONTINUE: continue_statement(generator, node); break;
    case NODE_RETURN: return_statement(generator, node); break;
    default:
        expression(generator, node->child[0]);
        emit(generator, OP_POP, 0);
        break;
    }
}

static void statements(struct generator *generator, struct node *first)
{
    for (; first; first = first->next)
        statement(generator, first);
}

/* The body stands where the function is declared, and is jumped over there. */
static void function(struct generator *generator, struct node *node)
{
    struct function *script = generator->function;
    struct patch *past = NULL;
    emit_open_jump(generator, OP_JUMP, &past);
    generator->function = find_function(generator, node->text);
    generator->function->entry = here(generator);
    open_scope(generator);
    for (struct node *parameter = node->child[0]; parameter; parameter = parameter->next)
        declare_variable(generator, parameter, "parameter declared twice");
    statements(generator, node->child[1]->child[0]);
    close_scope(generator);
    emit(generator, OP_NIL, 0);
    emit(generator, OP_RETURN, 0);
    land(generator, &past);
    generator->function = script;
    generator->slots = 0;
}

static int list_length(const struct node *first)
{
    int length = 0;
    for (; first; first = first->next)
        length++;
    return length;
}

/* Functions may be called before they are declared. */
static void collect_functions(struct generator *generator, struct node *items)
{
    struct program *program = generator->program;
    program->functions = allocate((size_t)(list_length(items) + 1) * sizeof *program->functions);
    program->function_count = 1;
    for (struct node *item = items; item; item = item->next) {
        if (item->kind != NODE_FUNCTION)
            continue;
        if (find_function(generator, item->text) || find_builtin(item->text))
            reject(item, "function declared twice");
        struct function *function = &program->functions[program->function_count++];
        function->name = item->text;
        function->parameters = list_length(item->child[0]);
    }
}

void generate(struct program *program, struct node *items)
{
    struct generator generator = {.program = program};
    collect_functions(&generator, items);
    generator.function = program->functions;
    for (struct node *item = items; item; item = item->next) {
        if (item->kind == NODE_FUNCTION)
            function(&generator, item);
        else
            statement(&generator, item);
    }
    emit(&generator, OP_HALT, 0);
}
