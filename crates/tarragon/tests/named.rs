//! Named lexers (`--lexer`): where tokens are delivered, and the searches over them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A lexer and a parser. `DELIVER(code)` ends the lexer, `TOKEN` is what it delivered last.
const PARSER: &str = r#"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
enum { END = 300, NUMBER, NAME, PLUS, OPEN, CLOSE };
static char text[100];
static int at;
SETUP
SIGNATURE
{
    while (text[at] == ' ')
        at++;
    char c = text[at];
    if (c == 0)
        DELIVER(END);
    at++;
    if (isdigit(c))
        DELIVER(NUMBER);
    if (c == '+')
        DELIVER(PLUS);
    if (c == '(')
        DELIVER(OPEN);
    if (c == ')')
        DELIVER(CLOSE);
    DELIVER(NAME);
}
int main(void)
{
    static const int wanted[] = { OPEN, NAME, PLUS, OPEN, NUMBER, CLOSE, CLOSE, END };
    text[fread(text, 1, 99, stdin)] = 0;
    for (int i = 0; i < 8; i++) {
        NEXT;
        if (TOKEN != wanted[i])
            return i;
    }
    abort();
}
"#;

/// What takes the place of the capitals, and how the lexer is named.
const DELIVERIES: [[&str; 6]; 5] = [
    ["", "static int lex(void)", "return (code)", "int token = lex()", "token", "lex"],
    [
        "int tok;",
        "static void lex(void)",
        "do { tok = (code); return; } while (0)",
        "lex()",
        "tok",
        "lex:tok",
    ],
    [
        "struct state { long pad; struct { char mark; short kind; } token; };",
        "static inline __attribute__((always_inline)) void lex(struct state *s)",
        "do { s->token.kind = (code); return; } while (0)",
        "struct state s; lex(&s)",
        "s.token.kind",
        "lex:arg0->token.kind",
    ],
    [
        "",
        "static int lex(long mode, unsigned *kind)",
        "do { *kind = (code) + mode; return 0; } while (0)",
        "unsigned kind; lex(0, &kind)",
        "(int)kind",
        "lex:*arg1",
    ],
    [
        "struct state { long pad; long kind; }; struct outer { struct state *state; };",
        "static void lex(struct outer *o)",
        "do { o->state->kind = (code); return; } while (0)",
        "struct state s; struct outer o = { &s }; lex(&o)",
        "s.kind",
        "lex:arg0+0->+8",
    ],
];

fn source([setup, signature, deliver, next, token, _]: [&str; 6]) -> String {
    let source = PARSER.replace("SETUP", &format!("{setup}\n#define DELIVER(code) {deliver}"));
    source.replace("SIGNATURE", signature).replace("NEXT", next).replace("TOKEN", token)
}

fn tarragon(dir: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.current_dir(dir).env("TARRAGON_CACHE", dir.join("cache")).args(words);
    command.output().expect("tarragon starts")
}

fn built(source: &str) -> TempDir {
    let dir = TempDir::new().expect("temporary directory");
    fs::write(dir.path().join("program.c"), source).expect("written");
    let output = tarragon(dir.path(), &["cc", "-g", "program.c", "-o", "program"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    dir
}

fn fuzz(dir: &Path, options: &[&str]) -> Value {
    let common = ["fuzz", "--quiet", "--lcov", "off", "--sanitizer", "off", "--out", "out"];
    let words = [&common[..], options, &["--", "./program"]].concat();
    let output = tarragon(dir, &words);
    let stats = fs::read(dir.join("out/stats.json"));
    let stats = stats.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    serde_json::from_slice(&stats).expect("JSON")
}

#[test]
fn tokens_are_seen_wherever_a_lexer_leaves_them() {
    for delivery in DELIVERIES {
        let dir = built(&source(delivery));
        fs::write(dir.path().join("input"), "( a+7").expect("written");
        let output =
            tarragon(dir.path(), &["trace", "--lexer", delivery[5], "input", "--", "./program"]);
        let shown = String::from_utf8_lossy(&output.stdout);
        let tokens: Vec<&str> = shown.lines().filter(|line| line.starts_with("token")).collect();
        let expected = [
            "token 0: code 304 (OPEN), from \"(\"",
            "token 1: code 302 (NAME), from \" a\"",
            "token 2: code 303 (PLUS), from \"+\"",
            "token 3: code 301 (NUMBER), from \"7\"",
        ];
        assert_eq!(
            tokens,
            expected,
            "{delivery:?}: {shown}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(!shown.contains("(lex)"), "the lexer's own conditions are left out: {shown}");
        assert!(shown.contains(", on token 1\n"), "conditions on a token name it: {shown}");
        assert!(!shown.contains("every input of this path"), "{shown}");
    }
}

#[test]
fn a_search_over_tokens_needs_one_run_for_each_token_of_the_bug() {
    for delivery in DELIVERIES {
        let dir = built(&source(delivery));
        fs::create_dir(dir.path().join("seeds")).expect("made");
        for (number, token) in ["", "a", "+", "(", ")", "1"].iter().enumerate() {
            fs::write(dir.path().join(format!("seeds/{number}")), token).expect("written");
        }
        let options = [
            "--strategy",
            "whitebox-tokens",
            "--lexer",
            delivery[5],
            "--seeds",
            "seeds",
            "--max-runs",
            "60",
        ];
        let stats = fuzz(dir.path(), &options);
        assert_eq!(stats["bugs"][0]["kind"], "SIGABRT", "{delivery:?}: {stats}");
    }
}

const GRAMMAR: &str = r#"
start sum ;
token NAME = /[a-z]/ ;
token NUMBER = /[0-9]/ ;
skip / +/ ;
sum = operand ("+" operand)* ;
operand = NAME | NUMBER | "(" sum ")" ;
"#;

#[test]
fn within_a_grammar_codes_of_tokens_are_learnt() {
    let dir = built(&source(DELIVERIES[2]));
    fs::write(dir.path().join("sums.tg"), GRAMMAR).expect("written");
    let options = [
        "--grammar",
        "sums.tg",
        "--strategy",
        "grammar-whitebox",
        "--lexer",
        DELIVERIES[2][5],
        "--max-runs",
        "8000",
    ];
    let stats = fuzz(dir.path(), &options);
    assert_eq!(stats["bugs"][0]["kind"], "SIGABRT", "{stats}");
    let number = |name: &str| stats[name].as_u64().unwrap_or(u64::MAX);
    assert!(
        number("divergences") * 10 <= number("symbolic_runs"),
        "tokens are told before the run: {stats}"
    );
    for entry in fs::read_dir(dir.path().join("out/corpus")).expect("a corpus") {
        let input = entry.expect("a file").path();
        let parsed = tarragon(
            dir.path(),
            &["grammar", "parse", "--quiet", "sums.tg", &input.to_string_lossy()],
        );
        assert!(parsed.status.success(), "{input:?}");
    }
}

/// Two lexers that deliver tokens with values; the bug needs a value of each.
const VALUES: &str = r#"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { END = 300, NUMBER, NAME, EQUALS };
static char text[100], name[9], kept[9];
static int at, number;
int lex(void)
{
    int len = 0;
    while (text[at] == ' ')
        at++;
    while (islower(text[at]) && len < 8)
        name[len++] = text[at++];
    name[len] = 0;
    if (len > 0)
        return NAME;
    return text[at] == '=' ? (at++, EQUALS) : END;
}
int lex_number(void)
{
    while (text[at] == ' ')
        at++;
    int start = at;
    for (number = 0; isdigit(text[at]); at++)
        number = number * 10 + text[at] - '0';
    return at > start ? NUMBER : END;
}
int main(void)
{
    text[fread(text, 1, 99, stdin)] = 0;
    if (lex() != NAME)
        return 1;
    strcpy(kept, name);
    if (lex() != EQUALS || lex_number() != NUMBER || lex() != END)
        return 1;
    if (strcmp(kept, "magic") == 0 && number == 4711)
        abort();
    return 0;
}
"#;

const ASSIGNMENT: &str = r#"
start assignment ;
token NAME = /[a-z]{5}/ ;
token NUMBER = /[0-9]{4}/ ;
skip / +/ ;
assignment = NAME "=" NUMBER ;
"#;

#[test]
fn values_of_tokens_are_solved_for_and_stay_lexemes() {
    let within = ["--grammar", "assignment.tg", "--strategy", "grammar-whitebox"];
    let without = ["--seeds", "seeds", "--strategy", "whitebox-tokens"];
    for strategy in [within, without] {
        let dir = built(VALUES);
        fs::write(dir.path().join("assignment.tg"), ASSIGNMENT).expect("written");
        fs::create_dir(dir.path().join("seeds")).expect("made");
        fs::write(dir.path().join("seeds/one"), "abcde = 1234").expect("written");
        let options = ["--lexer", "lex", "--lexer", "lex_number", "--max-runs", "500"];
        let stats = fuzz(dir.path(), &[&strategy[..], &options].concat());
        assert_eq!(stats["bugs"][0]["kind"], "SIGABRT", "{stats}");
        let crash =
            fs::read_dir(dir.path().join("out/crashes")).expect("crashes").next().expect("one");
        let text = fs::read_to_string(crash.expect("a file").path()).expect("text");
        assert_eq!(text.replace(' ', ""), "magic=4711");
    }
}

/// The lexer asks what it delivered before; one code stands for several characters, which the
/// program tells apart.
const FEEDBACK: &str = r#"
#include <stdio.h>
#include <stdlib.h>
enum { END = 300, NAME, SIGN, DIVISION, PATTERN };
static char text[100];
static int at, last, sign;
int lex(void)
{
    while (text[at] == ' ')
        at++;
    char c = text[at];
    if (c == 0)
        return last = END;
    at++;
    if (c == '/')
        return last = last == NAME ? DIVISION : PATTERN;
    sign = c;
    return last = c == '+' || c == '-' ? SIGN : NAME;
}
int main(void)
{
    text[fread(text, 1, 99, stdin)] = 0;
    if (lex() == SIGN && sign == '-' && lex() == PATTERN)
        abort();
    return 0;
}
"#;

#[test]
fn lexers_that_look_back_and_codes_of_several_lexemes() {
    let dir = built(FEEDBACK);
    fs::create_dir(dir.path().join("seeds")).expect("made");
    for (number, text) in ["a/", "+a", "/"].iter().enumerate() {
        fs::write(dir.path().join(format!("seeds/{number}")), text).expect("written");
    }
    let options = [
        "--strategy",
        "whitebox-tokens",
        "--lexer",
        "lex",
        "--seeds",
        "seeds",
        "--max-runs",
        "200",
    ];
    let stats = fuzz(dir.path(), &options);
    assert_eq!(stats["bugs"][0]["kind"], "SIGABRT", "{stats}");
}

#[test]
fn what_is_no_lexer_is_said() {
    let dir = built(&source(DELIVERIES[2]));
    let complains = |options: &[&str], about: &str| {
        let words =
            [&["fuzz", "--quiet", "--max-runs", "1"], options, &["--", "./program"]].concat();
        let output = tarragon(dir.path(), &words);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(2) && message.contains(about),
            "{options:?}: {message}"
        );
    };
    complains(&["--lexer", "scan"], "no function named scan");
    complains(&["--lexer", "lex"], "does not return a number");
    complains(&["--lexer", "lex:arg0->token.colour"], "no field `colour`");
    complains(&["--lexer", "lex:arg3->token"], "has 1 arguments");
    complains(&["--lexer", "lex:nowhere"], "named `nowhere`");
    complains(&["--lexer", "lex:arg0"], "is a pointer");
    complains(&["--strategy", "whitebox-tokens"], "--lexer");
    complains(&["--exhaustive", "--lexer", "lex:arg0->token.kind"], "give one of them");
}
