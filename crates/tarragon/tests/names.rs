//! Names that mean something: a grammar allows any, and the program knows some.

mod common;

use std::fs;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Statements with names. The exit code says which kinds of names were known: those declared before
/// are compared, functions are in a table by hash, and of reserved words only the hashes are in the
/// program.
const PROGRAM: &str = r#"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DECLARED = 1, FUNCTION = 2, RESERVED = 4, WRONG = 64 };

static char text[4096], word[64], declared[32][64];
static size_t at;
static int declared_count;
static struct { unsigned hash; const char *name; } functions[16];

__attribute__((noinline)) static unsigned hash(const char *name) {
    unsigned hash = 2166136261u;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

static void define(const char *name) {
    unsigned slot = hash(name) % 16;
    while (functions[slot].name) slot = (slot + 1) % 16;
    functions[slot].hash = hash(name);
    functions[slot].name = name;
}

static int is_function(const char *name) {
    unsigned code = hash(name);
    for (unsigned slot = code % 16; functions[slot].name; slot = (slot + 1) % 16)
        if (functions[slot].hash == code && strcmp(functions[slot].name, name) == 0) return 1;
    return 0;
}

static int is_reserved(const char *name) { return hash(name) == 0x0dc628ceu; }

static void next(void) {
    size_t len = 0;
    while (isspace((unsigned char)text[at])) at++;
    if (isalpha((unsigned char)text[at]))
        while (isalnum((unsigned char)text[at]) && len < sizeof word - 1) word[len++] = text[at++];
    else if (text[at])
        word[len++] = text[at++];
    word[len] = 0;
}

static void expect(int ok) { if (!ok) exit(WRONG); }

int main(void) {
    int found = 0;
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    define("sqrt"); define("length"); define("substring");
    for (next(); word[0]; next()) {
        char kind = word[0];
        if (is_reserved(word)) { next(); expect(word[0] == ';'); continue; }
        expect(!strcmp(word, "let") || !strcmp(word, "print") || !strcmp(word, "call") || !strcmp(word, "use"));
        next();
        expect(isalpha((unsigned char)word[0]));
        if (kind == 'l' && declared_count < 32) strcpy(declared[declared_count++], word);
        for (int i = 0; kind == 'p' && i < declared_count; i++)
            if (strcmp(declared[i], word) == 0) found |= DECLARED;
        if (kind == 'c' && is_function(word)) found |= FUNCTION;
        if (kind == 'u' && is_reserved(word)) found |= RESERVED;
        next();
        expect(word[0] == ';');
    }
    return found;
}
"#;

const GRAMMAR: &str = r#"
start program ;
token NAME = /[a-z][a-z0-9]{5,}/ ;
skip /[ \n]+/ ;
program = statement* ;
statement = "let" NAME ";" | "print" NAME ";" | "call" NAME ";" | "use" NAME ";" | "while" ";" ;
"#;

/// The kinds of names that the inputs of a campaign reach, as bits.
fn known_names(program: &str, options: &[&str]) -> i32 {
    let dir = TempDir::new().expect("temporary directory");
    fs::write(dir.path().join("names.tg"), GRAMMAR).expect("written");
    fs::create_dir(dir.path().join("seeds")).expect("made");
    fs::write(dir.path().join("seeds/one"), "while ; use xy ;").expect("written");
    let options = [options, &["--sanitizer", "off"]].concat();
    let stats = common::fuzz(dir.path(), program, &["-O1"], &options, &[]);
    assert_eq!(common::bugs(&stats), [""; 0]);
    let corpus = fs::read_dir(dir.path().join("out/corpus")).expect("a corpus");
    let codes = corpus.map(|input| {
        let input = fs::File::open(input.expect("an entry").path()).expect("opens");
        let run =
            Command::new(dir.path().join("program")).stdin(input).stdout(Stdio::null()).status();
        run.expect("starts").code().filter(|code| *code < 64).unwrap_or(0)
    });
    codes.fold(0, |all, code| all | code)
}

const WITHIN: [&str; 6] =
    ["--grammar", "names.tg", "--strategy", "grammar-whitebox", "--max-runs", "3000"];

#[test]
fn names_that_are_declared_or_known_by_their_hash_are_found() {
    assert_eq!(known_names(PROGRAM, &WITHIN) & 3, 3);
}

#[test]
fn a_large_table_of_words_leaves_room_for_those_of_the_input() {
    let define = r#"static char keys[300][8]; for (int i = 0; i < 300; i++) { sprintf(keys[i], "k%03d", i); define(keys[i]); } define("sqrt");"#;
    let program = PROGRAM.replace("functions[16]", "functions[512]").replace("% 16", "% 512");
    assert_eq!(known_names(&program.replace(r#"define("sqrt");"#, define), &WITHIN) & 2, 2);
}

#[test]
fn a_reserved_word_is_found_without_a_grammar() {
    let without = ["--seeds", "seeds", "--strategy", "whitebox", "--max-runs", "1500"];
    assert_eq!(known_names(PROGRAM, &without) & 4, 4);
}
