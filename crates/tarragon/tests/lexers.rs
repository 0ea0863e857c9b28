//! `tarragon lexers`: small programs for each way in which a lexer delivers its tokens, and Sprig.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn tarragon(dir: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.current_dir(dir).env("TARRAGON_CACHE", dir.join("cache")).args(words);
    command.output().expect("tarragon starts")
}

fn build(dir: &Path, source: &str, flags: &[&str]) {
    fs::write(dir.join("program.c"), source).expect("written");
    let words = [&["cc", "-g", "program.c", "-o", "program"], flags].concat();
    let built = tarragon(dir, &words);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

/// Proposals for a program, with the exit code.
fn proposals(dir: &Path, program: &str) -> (Vec<Value>, Option<i32>) {
    let output = tarragon(dir, &["lexers", "--json", program]);
    let lines = String::from_utf8(output.stdout).expect("text");
    let parse = |line| serde_json::from_str(line).expect("JSON");
    (lines.lines().map(parse).collect(), output.status.code())
}

fn first(source: &str, flags: &[&str]) -> String {
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), source, flags);
    let (found, code) = proposals(dir.path(), "./program");
    assert_eq!(code, Some(0), "{found:?}");
    found[0]["lexer"].as_str().expect("a name").to_owned()
}

const BY_RESULT: &str = r#"
#include <ctype.h>
#include <stdio.h>

enum { END = 300, NUMBER, NAME, PLUS, OPEN, CLOSE };

static int lex(void)
{
    int c = getchar();
    while (c == ' ')
        c = getchar();
    if (isdigit(c))
        return NUMBER;
    switch (c) {
    case EOF: return END;
    case '+': return PLUS;
    case '(': return OPEN;
    case ')': return CLOSE;
    default: return NAME;
    }
}

static int ahead;

static void expression(void)
{
    if (ahead == OPEN) {
        ahead = lex();
        expression();
        if (ahead != CLOSE)
            puts("unbalanced");
    } else if (ahead != NUMBER && ahead != NAME)
        puts("expected an operand");
    ahead = lex();
    if (ahead == PLUS) {
        ahead = lex();
        expression();
    }
}

int main(void)
{
    ahead = lex();
    expression();
    return ahead != END;
}
"#;

#[test]
fn by_result() {
    assert_eq!(first(BY_RESULT, &[]), "lex");
}

const IN_A_FIELD: &str = r#"
#include <stdio.h>

struct value { double number; int kind; };
struct reader { const char *text; int line; };
struct state { struct reader *reader; struct { int line; struct value val; } token; };

static int next_token(int flags, struct state *s)
{
    while (*s->reader->text == ' ')
        s->reader->text++;
    switch (*s->reader->text) {
    case 0: s->token.val.kind = -1; return 0;
    case '+': s->token.val.kind = 1; break;
    case '-': s->token.val.kind = 2; break;
    case '*': s->token.val.kind = 3; break;
    default: s->token.val.kind = 4 + flags; s->token.val.kind = 4; break;
    }
    s->reader->text++;
    return 0;
}

static int is(struct state *s, int kind) { return s->token.val.kind == kind; }

int main(int argc, char **argv)
{
    struct reader reader = { argv[1], 1 };
    struct state s = { .reader = &reader };
    int sum = 0;
    do {
        if (next_token(argc, &s))
            return 1;
        switch (s.token.val.kind) {
        case 1: sum++; break;
        case 2: sum--; break;
        case 3: sum *= 2; break;
        }
    } while (!is(&s, -1) && !is(&s, 4));
    return sum;
}
"#;

#[test]
fn in_a_field() {
    assert_eq!(first(IN_A_FIELD, &[]), "next_token:arg1->token.val.kind");
}

#[test]
fn in_a_field_behind_a_second_pointer() {
    let moved = IN_A_FIELD
        .replace(
            "struct reader { const char *text; int line; };",
            "struct reader { const char *text; struct value val; };",
        )
        .replace("struct { int line; struct value val; } token;", "")
        .replace("s->token.val", "s->reader->val")
        .replace("s.token.val", "s.reader->val")
        .replace("{ argv[1], 1 }", "{ .text = argv[1] }");
    assert_eq!(first(&moved, &[]), "next_token:arg1->reader->val.kind");
}

#[test]
fn without_debug_information() {
    let flags = ["-Xclang", "-debug-info-kind=line-tables-only"];
    assert_eq!(first(IN_A_FIELD, &flags), "next_token:arg1+24");
}

const IN_A_GLOBAL: &str = r#"
#include <stdio.h>

enum { END, WORD, COMMA, COLON, SPACE };

static FILE *file;
static struct { long position; int tok; } lexer;
static int simple;

static void next(void)
{
    int c = getc(file);
    lexer.position++;
    TOKEN = c == EOF ? END : c == ',' ? COMMA : c == ':' ? COLON : c == ' ' || c == '\t' ? SPACE : WORD;
}

static int words(void)
{
    int count = 0;
    for (next(); TOKEN != END; next())
        if (TOKEN == WORD)
            count++;
        else if (TOKEN == COMMA)
            count += 10;
        else if (TOKEN == COLON || TOKEN == SPACE)
            count += 100;
    return count;
}

int main(void)
{
    file = stdin;
    return words();
}
"#;

#[test]
fn in_a_global() {
    assert_eq!(first(IN_A_GLOBAL, &["-DTOKEN=simple"]), "next:simple");
    assert_eq!(first(IN_A_GLOBAL, &["-DTOKEN=lexer.tok"]), "next:lexer.tok");
}

const THROUGH_A_POINTER: &str = r#"
#include <stdio.h>

static void scan(const char **text, int *kind)
{
    switch (*(*text)++) {
    case 0: *kind = 10; break;
    case 'a': *kind = 11; break;
    case 'b': *kind = 12; break;
    default: *kind = 13; break;
    }
}

int main(int argc, char **argv)
{
    const char *text = argv[argc - 1];
    for (;;) {
        int kind;
        scan(&text, &kind);
        if (kind == 10)
            return 0;
        if (kind == 11 || kind == 12)
            puts("letter");
        else if (kind == 13)
            puts("other");
    }
}
"#;

#[test]
fn through_a_pointer() {
    assert_eq!(first(THROUGH_A_POINTER, &[]), "scan:*arg1");
}

const IN_THE_RESULT: &str = r#"
#include <stdio.h>

struct token { const char *start, *end; int type; };
struct scanner { const char *at; };

static struct token scan_token(struct scanner *scanner, int line)
{
    struct token token = { scanner->at, scanner->at, line };
    switch (*scanner->at++) {
    case 0: token.type = 1; break;
    case ';': token.type = 2; break;
    case '.': token.type = 3; break;
    default: token.type = 4; break;
    }
    return token;
}

int main(int argc, char **argv)
{
    struct scanner scanner = { argv[argc - 1] };
    for (;;) {
        struct token token = scan_token(&scanner, 0);
        switch (token.type) {
        case 1: return 0;
        case 2: puts("end"); break;
        case 3: puts("dot"); break;
        case 4: puts(token.start); break;
        }
    }
}
"#;

#[test]
fn in_a_struct_that_is_the_result() {
    assert_eq!(first(IN_THE_RESULT, &[]), "scan_token:result.type");
}

const NO_LEXER: &str = r#"
#include <stdio.h>

static int advance(void) { return getchar(); }

int main(void)
{
    int c, lines = 0;
    while ((c = advance()) != EOF)
        if (c == '\n' || c == '\r' || c == '\f' || c == '\v')
            lines++;
    return lines;
}
"#;

#[test]
fn programs_without_a_lexer() {
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), NO_LEXER, &[]);
    assert_eq!(proposals(dir.path(), "./program"), (Vec::new(), Some(1)));
    let output = tarragon(dir.path(), &["lexers", "./program"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("looks like a lexer"), "{stderr}");
}

#[test]
fn programs_without_bitcode() {
    let dir = TempDir::new().expect("temporary directory");
    let output = tarragon(dir.path(), &["lexers", "/bin/sh"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("was not built with Tarragon"), "{stderr}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn lexer_of_sprig() {
    let dir = TempDir::new().expect("temporary directory");
    let sprig = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sprig");
    let is_source = |name: &String| name.ends_with(".c");
    let files =
        fs::read_dir(&sprig).expect("examples/sprig").map(|file| file.expect("a file").path());
    let mut sources: Vec<String> =
        files.map(|path| path.to_string_lossy().into_owned()).filter(is_source).collect();
    sources.sort();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let built = tarragon(dir.path(), &[&["cc", "-o", "sprig"], &sources[..]].concat());
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));

    let (found, code) = proposals(dir.path(), "./sprig");
    assert_eq!(code, Some(0));
    assert_eq!(found[0]["lexer"], "next_token:arg1->kind");
    assert_eq!(found[0]["function"], "next_token");
    assert!(found[0]["file"].as_str().is_some_and(|file| file.ends_with("lexer.c")));

    let output = tarragon(dir.path(), &["lexers", "-n", "1", "./sprig"]);
    let text = String::from_utf8(output.stdout).expect("text");
    let start = "1. next_token:arg1->kind  ";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("\n     Only advance calls it.\n"), "{text}");
    assert!(
        text.lines().skip(1).all(|line| line.starts_with("     ") && line.ends_with('.')),
        "{text}"
    );
}
