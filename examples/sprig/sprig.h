/* What the modules of Sprig share: tokens, the syntax tree, bytecode, memory and errors.
 *
 * Text flows one way: lexer.c makes tokens, parser.c a tree, codegen.c bytecode, vm.c runs it. No module calls one
 * that comes later, except that codegen.c folds constants with the arithmetic of vm.c.
 */
#ifndef SPRIG_H
#define SPRIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum exit_code { EXIT_RUNTIME = 1, EXIT_SYNTAX = 2, EXIT_SEMANTIC = 3, EXIT_USAGE = 4 };

/* main.c: memory that lives until the program ends, and the one way to stop early. */
void *allocate(size_t size);
_Noreturn void fail(enum exit_code code, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A piece of text that need not end with NUL. */
struct text {
    const char *bytes;
    size_t length;
};

bool same_text(struct text a, struct text b);

/* ---- lexer.c ---- */

/* The order is that of the spellings in lexer.c. */
enum token_kind {
    TOKEN_END, TOKEN_BAD, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING,
    TOKEN_BREAK, TOKEN_CASE, TOKEN_CONTINUE, TOKEN_DEFAULT, TOKEN_DO, TOKEN_ELSE, TOKEN_FALSE, TOKEN_FN, TOKEN_FOR,
    TOKEN_IF, TOKEN_IN, TOKEN_LET, TOKEN_NIL, TOKEN_PRINT, TOKEN_RETURN, TOKEN_SWITCH, TOKEN_TRUE, TOKEN_WHILE,
    TOKEN_LEFT_PAREN, TOKEN_RIGHT_PAREN, TOKEN_LEFT_BRACKET, TOKEN_RIGHT_BRACKET, TOKEN_LEFT_BRACE,
    TOKEN_RIGHT_BRACE, TOKEN_COMMA, TOKEN_SEMICOLON, TOKEN_COLON, TOKEN_QUESTION, TOKEN_RANGE,
    TOKEN_ASSIGN, TOKEN_PLUS_ASSIGN, TOKEN_MINUS_ASSIGN, TOKEN_STAR_ASSIGN, TOKEN_SLASH_ASSIGN,
    TOKEN_PERCENT_ASSIGN,
    TOKEN_PLUS, TOKEN_MINUS, TOKEN_STAR, TOKEN_SLASH, TOKEN_PERCENT, TOKEN_BANG, TOKEN_TILDE, TOKEN_AND, TOKEN_OR,
    TOKEN_XOR, TOKEN_AND_AND, TOKEN_OR_OR, TOKEN_EQUAL, TOKEN_NOT_EQUAL, TOKEN_LESS, TOKEN_LESS_EQUAL,
    TOKEN_GREATER, TOKEN_GREATER_EQUAL, TOKEN_SHIFT_LEFT, TOKEN_SHIFT_RIGHT,
    TOKEN_KINDS
};

struct token {
    enum token_kind kind;
    int line;
    struct text text; /* of a name; of a string, with its escapes resolved */
    int64_t number;
};

struct lexer {
    struct text source;
    size_t position;
    int line;
};

void lexer_start(struct lexer *lexer, struct text source);
void next_token(struct lexer *lexer, struct token *token);
const char *spelling(enum token_kind kind);

/* ---- bytecode ---- */

enum opcode {
    OP_NUMBER, OP_STRING, OP_NIL, OP_POP, OP_COPY, OP_COPY_TWO,
    OP_LOAD_LOCAL, OP_STORE_LOCAL, OP_LOAD_GLOBAL, OP_STORE_GLOBAL,
    OP_ARRAY, OP_INDEX, OP_STORE_INDEX,
    OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE, OP_MODULO, OP_BIT_AND, OP_BIT_OR, OP_BIT_XOR, OP_SHIFT_LEFT,
    OP_SHIFT_RIGHT, OP_EQUAL, OP_NOT_EQUAL, OP_LESS, OP_LESS_EQUAL, OP_GREATER, OP_GREATER_EQUAL,
    OP_NEGATE, OP_INVERT, OP_NOT,
    OP_JUMP, OP_JUMP_FALSE, OP_JUMP_TRUE,
    OP_CALL, OP_RETURN, OP_PRINT, OP_PRINT_END, OP_LENGTH, OP_PUSH, OP_TEXT, OP_CODE, OP_CHARACTER, OP_HALT
};

struct instruction {
    enum opcode op;
    int line;
    int64_t operand;          /* a number, slot, jump target, count or index of a function */
    const struct text *string; /* of OP_STRING */
};

struct function {
    struct text name;
    int parameters;
    int slots; /* parameters, locals and hidden variables */
    int entry;
};

struct program {
    struct instruction *code;
    int length, capacity;
    struct function *functions; /* the first is the program itself */
    int function_count;
    int global_count;
};

/* ---- parser.c ---- */

/* What child[0], child[1]… are; "list" is chained by `next`, [x] may be absent. */
enum node_kind {
    NODE_NUMBER,
    NODE_STRING,
    NODE_NIL,
    NODE_NAME,
    NODE_GROUP,      /* expression */
    NODE_CALL,       /* [list of arguments] */
    NODE_ARRAY,      /* [list of elements] */
    NODE_INDEX,      /* sequence, position */
    NODE_UNARY,      /* operand */
    NODE_BINARY,     /* left, right */
    NODE_AND,        /* left, right */
    NODE_OR,         /* left, right */
    NODE_CONDITION,  /* condition, then, else */
    NODE_LET,        /* [value] */
    NODE_ASSIGN,     /* target, value; compound if the target is to be combined by `op` */
    NODE_EXPRESSION, /* expression */
    NODE_PRINT,      /* list of values */
    NODE_BLOCK,      /* [list of statements] */
    NODE_IF,         /* condition, then, [else] */
    NODE_WHILE,      /* condition, body */
    NODE_DO,         /* body, condition */
    NODE_FOR,        /* [first], [condition], [step], body */
    NODE_EACH,       /* sequence or lower end, [upper end], body */
    NODE_SWITCH,     /* subject, [list of cases] */
    NODE_CASE,       /* [list of labels; none: default], [list of statements] */
    NODE_BREAK,
    NODE_CONTINUE,
    NODE_RETURN,     /* [value] */
    NODE_FUNCTION    /* [list of parameters], body */
};

struct node {
    enum node_kind kind;
    int line;
    int height; /* of the tree below: keeps recursion over it bounded */
    enum opcode op;
    bool compound;
    int64_t number;
    struct text text;
    struct node *child[4];
    struct node *next;
};

struct node *parse(struct text source);

/* ---- codegen.c ---- */

void generate(struct program *program, struct node *items);

/* ---- vm.c ---- */

/* The divisor of OP_DIVIDE and OP_MODULO must not be zero. */
int64_t integer_operation(enum opcode op, int64_t left, int64_t right);
void run(const struct program *program);

#endif
