/* A calculator for expressions over digits and single-letter variables.
 *
 * Each variable has a value that is recorded in an array. The calculator forgets to check for a division or a modulo by
 * zero, which is the bug that Tarragon finds.
 */
%{
#include <stdio.h>
#include <stdlib.h>

int yylex(void);
void yyerror(const char *message);
static int variable(int letter);
%}

%token '\n' BAD NUMBER LETTER '(' ')'
%left '|'
%left '&'
%left '+' '-'
%left '*' '/' '%'
%right NEGATION

%%
input: line
     | input '\n' line
     ;

line: %empty
    | expression  { printf("%d\n", $1); }
    ;

expression: '(' expression ')'            { $$ = $2; }
          | expression '*' expression     { $$ = $1 * $3; }
          | expression '/' expression     { $$ = $1 / $3; }
          | expression '%' expression     { $$ = $1 % $3; }
          | expression '+' expression     { $$ = $1 + $3; }
          | expression '-' expression     { $$ = $1 - $3; }
          | expression '|' expression     { $$ = $1 | $3; }
          | expression '&' expression     { $$ = $1 & $3; }
          | '-' expression %prec NEGATION { $$ = -$2; }
          | LETTER                        { $$ = variable($1); }
          | NUMBER
          ;
%%

/* The values of a to z, then of A to Z. */
static int values[52];

static int variable(int letter)
{
    if (letter >= 'a' && letter <= 'z')
        return values[letter - 'a'];
    return values[26 + letter - 'A'];
}

void yyerror(const char *message)
{
    fprintf(stderr, "%s\n", message);
    exit(1);
}

int main(void)
{
    for (int i = 0; i < 52; i++)
        values[i] = i + 1;
    return yyparse();
}
