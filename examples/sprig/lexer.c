/* The lexer: cuts the source into tokens, by hand.
 *
 * Keywords are found by hash, in a table that is filled from their spellings at the start. A token that cannot be
 * made is TOKEN_BAD; the parser reports it like any other token that is out of place.
 */
#include "sprig.h"

#include <string.h>

enum { FIRST_KEYWORD = TOKEN_BREAK, LAST_KEYWORD = TOKEN_WHILE, TABLE_SIZE = 64 };

static const char *const spellings[TOKEN_KINDS] = {
    "the end", "a malformed token", "a name", "a number", "a string",
    "break", "case", "continue", "default", "do", "else", "false", "fn", "for",
    "if", "in", "let", "nil", "print", "return", "switch", "true", "while",
    "(", ")", "[", "]", "{",
    "}", ",", ";", ":", "?", "..",
    "=", "+=", "-=", "*=", "/=",
    "%=",
    "+", "-", "*", "/", "%", "!", "~", "&", "|",
    "^", "&&", "||", "==", "!=", "<", "<=",
    ">", ">=", "<<", ">>",
};

/* A free place holds TOKEN_END. */
static enum token_kind keywords[TABLE_SIZE];

const char *spelling(enum token_kind kind)
{
    return spellings[kind];
}

static unsigned hash(struct text text)
{
    unsigned value = 5381;
    for (size_t i = 0; i < text.length; i++)
        value = value * 33 ^ (unsigned char)text.bytes[i];
    return value % TABLE_SIZE;
}

/* The keyword's place, or the free one where it would go. */
static unsigned find_place(struct text text)
{
    unsigned place = hash(text);
    while (keywords[place] != TOKEN_END) {
        const char *keyword = spellings[keywords[place]];
        if (same_text(text, (struct text){keyword, strlen(keyword)}))
            break;
        place = (place + 1) % TABLE_SIZE;
    }
    return place;
}

void lexer_start(struct lexer *lexer, struct text source)
{
    for (int kind = FIRST_KEYWORD; kind <= LAST_KEYWORD; kind++) {
        struct text text = {spellings[kind], strlen(spellings[kind])};
        keywords[find_place(text)] = kind;
    }
    *lexer = (struct lexer){source, 0, 1};
}

/* The character `ahead` places from here, or -1 past the end. */
static int peek(const struct lexer *lexer, size_t ahead)
{
    size_t position = lexer->position + ahead;
    return position < lexer->source.length ? (unsigned char)lexer->source.bytes[position] : -1;
}

static int advance(struct lexer *lexer)
{
    int character = peek(lexer, 0);
    if (character == '\n')
        lexer->line++;
    if (character >= 0)
        lexer->position++;
    return character;
}

static bool accept_character(struct lexer *lexer, int character)
{
    if (peek(lexer, 0) != character)
        return false;
    advance(lexer);
    return true;
}

static void skip_line_comment(struct lexer *lexer)
{
    while (peek(lexer, 0) >= 0 && peek(lexer, 0) != '\n')
        advance(lexer);
}

/* False if the comment never ends. */
static bool skip_block_comment(struct lexer *lexer)
{
    lexer->position += 2;
    while (peek(lexer, 0) >= 0) {
        if (advance(lexer) == '*' && accept_character(lexer, '/'))
            return true;
    }
    return false;
}

/* White space and comments; false if a comment never ends. */
static bool skip(struct lexer *lexer)
{
    for (;;) {
        int character = peek(lexer, 0);
        if (character == ' ' || character == '\t' || character == '\r' || character == '\n')
            advance(lexer);
        else if (character == '/' && peek(lexer, 1) == '/')
            skip_line_comment(lexer);
        else if (character != '/' || peek(lexer, 1) != '*')
            return true;
        else if (!skip_block_comment(lexer))
            return false;
    }
}

static bool is_digit(int character)
{
    return character >= '0' && character <= '9';
}

static bool is_letter(int character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character == '_';
}

static enum token_kind read_word(struct lexer *lexer, struct token *token)
{
    size_t start = lexer->position;
    while (is_letter(peek(lexer, 0)) || is_digit(peek(lexer, 0)))
        advance(lexer);
    token->text = (struct text){lexer->source.bytes + start, lexer->position - start};
    enum token_kind keyword = keywords[find_place(token->text)];
    return keyword == TOKEN_END ? TOKEN_NAME : keyword;
}

/* Numbers are taken modulo two to the power of 64. */
static enum token_kind read_number(struct lexer *lexer, struct token *token)
{
    uint64_t number = 0;
    while (is_digit(peek(lexer, 0)))
        number = number * 10 + (uint64_t)(advance(lexer) - '0');
    token->number = (int64_t)number;
    return TOKEN_NUMBER;
}

/* What a backslash and this character stand for; -1 if nothing. */
static int escaped(int character)
{
    switch (character) {
    case 'n': return '\n';
    case 't': return '\t';
    case '"': return '"';
    case '\\': return '\\';
    default: return -1;
    }
}

/* A string is one line of printable ASCII. */
static enum token_kind read_string(struct lexer *lexer, struct token *token)
{
    char *bytes = allocate(lexer->source.length - lexer->position);
    size_t length = 0;
    advance(lexer);
    while (!accept_character(lexer, '"')) {
        int character = advance(lexer);
        if (character < ' ' || character > '~')
            return TOKEN_BAD;
        if (character == '\\' && (character = escaped(advance(lexer))) < 0)
            return TOKEN_BAD;
        bytes[length++] = (char)character;
    }
    token->text = (struct text){bytes, length};
    return TOKEN_STRING;
}

static enum token_kind either(struct lexer *lexer, int second, enum token_kind two, enum token_kind one)
{
    return accept_character(lexer, second) ? two : one;
}

static enum token_kind read_operator(struct lexer *lexer)
{
    switch (advance(lexer)) {
    case -1: return TOKEN_END;
    case '(': return TOKEN_LEFT_PAREN;
    case ')': return TOKEN_RIGHT_PAREN;
    case '[': return TOKEN_LEFT_BRACKET;
    case ']': return TOKEN_RIGHT_BRACKET;
    case '{': return TOKEN_LEFT_BRACE;
    case '}': return TOKEN_RIGHT_BRACE;
    case ',': return TOKEN_COMMA;
    case ';': return TOKEN_SEMICOLON;
    case ':': return TOKEN_COLON;
    case '?': return TOKEN_QUESTION;
    case '~': return TOKEN_TILDE;
    case '^': return TOKEN_XOR;
    case '.': return either(lexer, '.', TOKEN_RANGE, TOKEN_BAD);
    case '=': return either(lexer, '=', TOKEN_EQUAL, TOKEN_ASSIGN);
    case '!': return either(lexer, '=', TOKEN_NOT_EQUAL, TOKEN_BANG);
    case '+': return either(lexer, '=', TOKEN_PLUS_ASSIGN, TOKEN_PLUS);
    case '-': return either(lexer, '=', TOKEN_MINUS_ASSIGN, TOKEN_MINUS);
    case '*': return either(lexer, '=', TOKEN_STAR_ASSIGN, TOKEN_STAR);
    case '/': return either(lexer, '=', TOKEN_SLASH_ASSIGN, TOKEN_SLASH);
    case '%': return either(lexer, '=', TOKEN_PERCENT_ASSIGN, TOKEN_PERCENT);
    case '&': return either(lexer, '&', TOKEN_AND_AND, TOKEN_AND);
    case '|': return either(lexer, '|', TOKEN_OR_OR, TOKEN_OR);
    case '<':
        if (accept_character(lexer, '<'))
            return TOKEN_SHIFT_LEFT;
        return either(lexer, '=', TOKEN_LESS_EQUAL, TOKEN_LESS);
    case '>':
        if (accept_character(lexer, '>'))
            return TOKEN_SHIFT_RIGHT;
        return either(lexer, '=', TOKEN_GREATER_EQUAL, TOKEN_GREATER);
    default: return TOKEN_BAD;
    }
}

void next_token(struct lexer *lexer, struct token *token)
{
    bool complete = skip(lexer);
    int first = peek(lexer, 0);
    token->line = lexer->line;
    if (!complete)
        token->kind = TOKEN_BAD;
    else if (is_letter(first))
        token->kind = read_word(lexer, token);
    else if (is_digit(first))
        token->kind = read_number(lexer, token);
    else if (first == '"')
        token->kind = read_string(lexer, token);
    else
        token->kind = read_operator(lexer);
}
