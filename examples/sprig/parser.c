/* The parser: recursive descent over tokens, one function a rule of sprig.tg, with one token of lookahead.
 *
 * It looks at form only; what names mean is the code generator's business. Nesting is limited, so that neither this
 * recursion nor one over the tree can exhaust the stack; the limit is not an error of syntax.
 */
#include "sprig.h"

enum { NESTING_LIMIT = 200 };

struct parser {
    struct lexer lexer;
    struct token token; /* the next one */
    int depth;
};

struct binary_operator {
    enum token_kind token;
    int precedence; /* a higher one binds tighter */
    enum node_kind kind;
    enum opcode op;
};

static const struct binary_operator binary_operators[] = {
    {TOKEN_OR_OR, 1, NODE_OR, OP_JUMP_TRUE},
    {TOKEN_AND_AND, 2, NODE_AND, OP_JUMP_FALSE},
    {TOKEN_EQUAL, 3, NODE_BINARY, OP_EQUAL},
    {TOKEN_NOT_EQUAL, 3, NODE_BINARY, OP_NOT_EQUAL},
    {TOKEN_LESS, 4, NODE_BINARY, OP_LESS},
    {TOKEN_LESS_EQUAL, 4, NODE_BINARY, OP_LESS_EQUAL},
    {TOKEN_GREATER, 4, NODE_BINARY, OP_GREATER},
    {TOKEN_GREATER_EQUAL, 4, NODE_BINARY, OP_GREATER_EQUAL},
    {TOKEN_OR, 5, NODE_BINARY, OP_BIT_OR},
    {TOKEN_XOR, 6, NODE_BINARY, OP_BIT_XOR},
    {TOKEN_AND, 7, NODE_BINARY, OP_BIT_AND},
    {TOKEN_SHIFT_LEFT, 8, NODE_BINARY, OP_SHIFT_LEFT},
    {TOKEN_SHIFT_RIGHT, 8, NODE_BINARY, OP_SHIFT_RIGHT},
    {TOKEN_PLUS, 9, NODE_BINARY, OP_ADD},
    {TOKEN_MINUS, 9, NODE_BINARY, OP_SUBTRACT},
    {TOKEN_STAR, 10, NODE_BINARY, OP_MULTIPLY},
    {TOKEN_SLASH, 10, NODE_BINARY, OP_DIVIDE},
    {TOKEN_PERCENT, 10, NODE_BINARY, OP_MODULO},
};

static struct node *expression(struct parser *parser);
static struct node *statement(struct parser *parser);

/* ---- tokens ---- */

static void advance(struct parser *parser)
{
    next_token(&parser->lexer, &parser->token);
}

static bool at(const struct parser *parser, enum token_kind kind)
{
    return parser->token.kind == kind;
}

static bool accept(struct parser *parser, enum token_kind kind)
{
    if (!at(parser, kind))
        return false;
    advance(parser);
    return true;
}

static _Noreturn void unexpected(const struct parser *parser, const char *wanted)
{
    fail(EXIT_SYNTAX, parser->token.line, "syntax error: expected %s, found %s", wanted, spelling(parser->token.kind));
}

static void expect(struct parser *parser, enum token_kind kind)
{
    if (!accept(parser, kind))
        unexpected(parser, spelling(kind));
}

static struct text expect_name(struct parser *parser)
{
    struct text name = parser->token.text;
    expect(parser, TOKEN_NAME);
    return name;
}

/* ---- the tree ---- */

static void check_nesting(int depth, int line)
{
    if (depth > NESTING_LIMIT)
        fail(EXIT_SEMANTIC, line, "nested too deeply");
}

static struct node *new_node(const struct parser *parser, enum node_kind kind)
{
    struct node *node = allocate(sizeof *node);
    node->kind = kind;
    node->line = parser->token.line;
    node->height = 1;
    return node;
}

static void set_child(struct node *node, int index, struct node *child)
{
    node->child[index] = child;
    for (; child; child = child->next) {
        if (child->height >= node->height)
            node->height = child->height + 1;
    }
    check_nesting(node->height, node->line);
}

/* Consumes the token that the node stands for. */
static struct node *leaf(struct parser *parser, enum node_kind kind)
{
    struct node *node = new_node(parser, kind);
    node->number = parser->token.number;
    node->text = parser->token.text;
    advance(parser);
    return node;
}

/* ---- expressions ---- */

/* expressions separated by commas, at least one */
static struct node *expressions(struct parser *parser)
{
    struct node *first = NULL, **end = &first;
    do {
        *end = expression(parser);
        end = &(*end)->next;
    } while (accept(parser, TOKEN_COMMA));
    return first;
}

/* The same up to a closing token, and possibly none. */
static struct node *expressions_until(struct parser *parser, enum token_kind closing)
{
    struct node *first = at(parser, closing) ? NULL : expressions(parser);
    expect(parser, closing);
    return first;
}

static struct node *name_or_call(struct parser *parser)
{
    struct node *node = leaf(parser, NODE_NAME);
    if (accept(parser, TOKEN_LEFT_PAREN)) {
        node->kind = NODE_CALL;
        set_child(node, 0, expressions_until(parser, TOKEN_RIGHT_PAREN));
    }
    return node;
}

static struct node *truth(struct parser *parser, int value)
{
    struct node *node = leaf(parser, NODE_NUMBER);
    node->number = value;
    return node;
}

static struct node *group(struct parser *parser)
{
    struct node *node = leaf(parser, NODE_GROUP);
    set_child(node, 0, expression(parser));
    expect(parser, TOKEN_RIGHT_PAREN);
    return node;
}

static struct node *array(struct parser *parser)
{
    struct node *node = leaf(parser, NODE_ARRAY);
    set_child(node, 0, expressions_until(parser, TOKEN_RIGHT_BRACKET));
    return node;
}

static struct node *primary(struct parser *parser)
{
    switch (parser->token.kind) {
    case TOKEN_NUMBER: return leaf(parser, NODE_NUMBER);
    case TOKEN_STRING: return leaf(parser, NODE_STRING);
    case TOKEN_NIL: return leaf(parser, NODE_NIL);
    case TOKEN_TRUE: return truth(parser, 1);
    case TOKEN_FALSE: return truth(parser, 0);
    case TOKEN_NAME: return name_or_call(parser);
    case TOKEN_LEFT_PAREN: return group(parser);
    case TOKEN_LEFT_BRACKET: return array(parser);
    default: unexpected(parser, "an expression");
    }
}

static struct node *postfix(struct parser *parser)
{
    struct node *node = primary(parser);
    while (at(parser, TOKEN_LEFT_BRACKET)) {
        struct node *index = leaf(parser, NODE_INDEX);
        set_child(index, 0, node);
        set_child(index, 1, expression(parser));
        expect(parser, TOKEN_RIGHT_BRACKET);
        node = index;
    }
    return node;
}

static struct node *unary(struct parser *parser);

static struct node *prefixed(struct parser *parser, enum opcode op)
{
    struct node *node = leaf(parser, NODE_UNARY);
    node->op = op;
    check_nesting(++parser->depth, node->line);
    set_child(node, 0, unary(parser));
    parser->depth--;
    return node;
}

static struct node *unary(struct parser *parser)
{
    switch (parser->token.kind) {
    case TOKEN_MINUS: return prefixed(parser, OP_NEGATE);
    case TOKEN_BANG: return prefixed(parser, OP_NOT);
    case TOKEN_TILDE: return prefixed(parser, OP_INVERT);
    default: return postfix(parser);
    }
}

static const struct binary_operator *binary_operator(const struct parser *parser)
{
    size_t count = sizeof binary_operators / sizeof *binary_operators;
    for (size_t i = 0; i < count; i++) {
        if (at(parser, binary_operators[i].token))
            return &binary_operators[i];
    }
    return NULL;
}

/* Precedence climbing: operators that bind at least as tightly as `lowest`. */
static struct node *binary(struct parser *parser, int lowest)
{
    struct node *left = unary(parser);
    const struct binary_operator *operator;
    while ((operator = binary_operator(parser)) && operator->precedence >= lowest) {
        struct node *node = leaf(parser, operator->kind);
        node->op = operator->op;
        set_child(node, 0, left);
        set_child(node, 1, binary(parser, operator->precedence + 1));
        left = node;
    }
    return left;
}

static struct node *expression(struct parser *parser)
{
    check_nesting(++parser->depth, parser->token.line);
    struct node *node = binary(parser, 1);
    if (at(parser, TOKEN_QUESTION)) {
        struct node *choice = leaf(parser, NODE_CONDITION);
        set_child(choice, 0, node);
        set_child(choice, 1, expression(parser));
        expect(parser, TOKEN_COLON);
        set_child(choice, 2, expression(parser));
        node = choice;
    }
    parser->depth--;
    return node;
}

/* ---- statements ---- */

/* statements up to and including a closing brace */
static struct node *block(struct parser *parser)
{
    struct node *node = new_node(parser, NODE_BLOCK), *first = NULL, **end = &first;
    expect(parser, TOKEN_LEFT_BRACE);
    while (!accept(parser, TOKEN_RIGHT_BRACE)) {
        *end = statement(parser);
        end = &(*end)->next;
    }
    set_child(node, 0, first);
    return node;
}

/* Is the next token an assignment? If so, says by which operation, if any. */
static bool assignment(const struct parser *parser, struct node *node)
{
    node->compound = true;
    switch (parser->token.kind) {
    case TOKEN_ASSIGN: node->compound = false; return true;
    case TOKEN_PLUS_ASSIGN: node->op = OP_ADD; return true;
    case TOKEN_MINUS_ASSIGN: node->op = OP_SUBTRACT; return true;
    case TOKEN_STAR_ASSIGN: node->op = OP_MULTIPLY; return true;
    case TOKEN_SLASH_ASSIGN: node->op = OP_DIVIDE; return true;
    case TOKEN_PERCENT_ASSIGN: node->op = OP_MODULO; return true;
    default: return false;
    }
}

/* an assignment or an expression, without the semicolon */
static struct node *simple(struct parser *parser)
{
    struct node *node = new_node(parser, NODE_EXPRESSION);
    struct node *first = expression(parser);
    set_child(node, 0, first);
    if ((first->kind == NODE_NAME || first->kind == NODE_INDEX) && assignment(parser, node)) {
        advance(parser);
        node->kind = NODE_ASSIGN;
        set_child(node, 1, expression(parser));
    }
    return node;
}

static struct node *let(struct parser *parser)
{
    struct node *node = leaf(parser, NODE_LET);
    node->text = expect_name(parser);
    if (accept(parser, TOKEN_ASSIGN))
        set_child(node, 0, expression(parser));
    return node;
}

static struct node *let_or_simple(struct parser *parser)
{
    return at(parser, TOKEN_LET) ? let(parser) : simple(parser);
}

static struct node *print(struct parser *parser)
{
    struct node *node = leaf(parser, NODE_PRINT);
    set_child(node, 0, expressions(parser));
    return node;
}

static struct node *if_statement(struct parser *parser)
{
    struct node *node = leaf(parser, NODE_IF);
    check_nesting(++parser->depth, node->line);
    set_child(node, 0, expression(parser));
    set_child(node, 1, block(parser));
    if (accept(parser, TOKEN_ELSE))
        set_child(node, 2, at(parser, TOKEN_IF) ? if_statement(parser) : block(parser));
    parser->depth--;
    return node;
}

static struct node *while_statement(struct parser *parser)
{
    struct node *node = leaf(parser, NODE_WHILE);
    set_child(node, 0, expression(parser));
    set_child(node, 1, block(parser));
    return node;
}

static struct node *do_statement(struct parser *parser)
{
    struct node *node = leaf(parser, NODE_DO);
    set_child(node, 0, block(parser));
    expect(parser, TOKEN_WHILE);
    set_child(node, 1, expression(parser));
    return node;
}

/* for ( first ; condition ; step ) block, from the parenthesis on */
static void for_clauses(struct parser *parser, struct node *node)
{
    expect(parser, TOKEN_LEFT_PAREN);
    if (!at(parser, TOKEN_SEMICOLON))
        set_child(node, 0, let_or_simple(parser));
    expect(parser, TOKEN_SEMICOLON);
    if (!at(parser, TOKEN_SEMICOLON))
        set_child(node, 1, expression(parser));
    expect(parser, TOKEN_SEMICOLON);
    if (!at(parser, TOKEN_RIGHT_PAREN))
        set_child(node, 2, simple(parser));
    expect(parser, TOKEN_RIGHT_PAREN);
    set_child(node, 3, block(parser));
}

/* for name in sequence block, or for name in low .. high block, from the name on */
static void each_clauses(struct parser *parser, struct node *node)
{
    node->kind = NODE_EACH;
    node->text = expect_name(parser);
    expect(parser, TOKEN_IN);
    set_child(node, 0, expression(parser));
    if (accept(parser, TOKEN_RANGE))
        set_child(node, 1, expression(parser));
    set_child(node, 2, block(parser));
}

static struct node *for_statement(struct parser *parser)
{
    struct node *node = leaf(parser, NODE_FOR);
    if (at(parser, TOKEN_NAME))
        each_clauses(parser, node);
    else
        for_clauses(parser, node);
    return node;
}

static bool at_end_of_case(const struct parser *parser)
{
    return at(parser, TOKEN_CASE) || at(parser, TOKEN_DEFAULT) || at(parser, TOKEN_RIGHT_BRACE);
}

static struct node *case_clause(struct parser *parser)
{
    struct node *node = new_node(parser, NODE_CASE), *first = NULL, **end = &first;
    if (accept(parser, TOKEN_CASE))
        set_child(node, 0, expressions(parser));
    else
        expect(parser, TOKEN_DEFAULT);
    expect(parser, TOKEN_COLON);
    while (!at_end_of_case(parser)) {
        *end = statement(parser);
        end = &(*end)->next;
    }
    set_child(node, 1, first);
    return node;
}

static struct node *switch_statement(struct parser *parser)
{
    struct node *node = leaf(parser, NODE_SWITCH), *first = NULL, **end = &first;
    set_child(node, 0, expression(parser));
    expect(parser, TOKEN_LEFT_BRACE);
    while (!accept(parser, TOKEN_RIGHT_BRACE)) {
        *end = case_clause(parser);
        end = &(*end)->next;
    }
    set_child(node, 1, first);
    return node;
}

static struct node *return_statement(struct parser *parser)
{
    struct node *node = leaf(parser, NODE_RETURN);
    if (!at(parser, TOKEN_SEMICOLON))
        set_child(node, 0, expression(parser));
    return node;
}

static struct node *with_semicolon(struct parser *parser, struct node *node)
{
    expect(parser, TOKEN_SEMICOLON);
    return node;
}

static struct node *any_statement(struct parser *parser)
{
    switch (parser->token.kind) {
    case TOKEN_LEFT_BRACE: return block(parser);
    case TOKEN_IF: return if_statement(parser);
    case TOKEN_WHILE: return while_statement(parser);
    case TOKEN_FOR: return for_statement(parser);
    case TOKEN_SWITCH: return switch_statement(parser);
    case TOKEN_DO: return with_semicolon(parser, do_statement(parser));
    case TOKEN_PRINT: return with_semicolon(parser, print(parser));
    case TOKEN_BREAK: return with_semicolon(parser, leaf(parser, NODE_BREAK));
    case TOKEN_CONTINUE: return with_semicolon(parser, leaf(parser, NODE_CONTINUE));
    case TOKEN_RETURN: return with_semicolon(parser, return_statement(parser));
    default: return with_semicolon(parser, let_or_simple(parser));
    }
}

static struct node *statement(struct parser *parser)
{
    check_nesting(++parser->depth, parser->token.line);
    struct node *node = any_statement(parser);
    parser->depth--;
    return node;
}

static struct node *function(struct parser *parser)
{
    struct node *node = leaf(parser, NODE_FUNCTION), *first = NULL, **end = &first;
    node->text = expect_name(parser);
    expect(parser, TOKEN_LEFT_PAREN);
    if (!at(parser, TOKEN_RIGHT_PAREN)) {
        do {
            *end = new_node(parser, NODE_NAME);
            (*end)->text = expect_name(parser);
            end = &(*end)->next;
        } while (accept(parser, TOKEN_COMMA));
    }
    expect(parser, TOKEN_RIGHT_PAREN);
    set_child(node, 0, first);
    set_child(node, 1, block(parser));
    return node;
}

struct node *parse(struct text source)
{
    struct parser parser = {0};
    struct node *first = NULL, **end = &first;
    lexer_start(&parser.lexer, source);
    advance(&parser);
    while (!at(&parser, TOKEN_END)) {
        *end = at(&parser, TOKEN_FN) ? function(&parser) : statement(&parser);
        end = &(*end)->next;
    }
    return first;
}
