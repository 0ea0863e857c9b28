//! Programs that are hard to derive variants of.

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

const LIBRARY: &str = r#"
int old_add(int a, int b) { return a + b; }
int new_add(int a, int b) { return a + b + 1; }
__asm__(".symver old_add,add@V1");
__asm__(".symver new_add,add@@V2");
"#;

const VERSIONS: &str = "V1 { global: add; local: *; }; V2 { global: add; } V1;";

const USER: &str = r#"
#include <stdio.h>
int add(int, int);
int main(void) { printf("%d\n", add(getchar(), 1)); return 0; }
"#;

/// Without their types, constructors of the two classes and both `read`s look alike.
const CLASSES: &str = r#"
#include <iostream>
#include <sstream>
#include <stdexcept>
struct mine : std::runtime_error { using std::runtime_error::runtime_error; };
struct yours : std::runtime_error { using std::runtime_error::runtime_error; };
int main() {
    char narrow[4] = {0};
    wchar_t wide[4] = {0};
    std::istringstream("abc").read(narrow, 2);
    std::wistringstream(L"abc").read(wide, 2);
    try {
        if (narrow[0] == (char)wide[0])
            throw mine("mine");
        throw yours(std::string("yours"));
    } catch (const std::exception &error) {
        std::cout << error.what() << '\n';
    }
}
"#;

#[test]
fn a_library_with_versions_of_symbols() {
    let dir = TempDir::new().expect("temporary directory");
    write(dir.path(), &[("add.c", LIBRARY), ("add.map", VERSIONS), ("use.c", USER)]);
    tarragon(dir.path(), "cc -fPIC -shared -Wl,--version-script=add.map add.c -o libadd.so");
    tarragon(dir.path(), "cc use.c -L. -ladd -Wl,-rpath,$ORIGIN -o program");
    check(dir.path(), &["traced", "sanitized"], "99\n");
}

/// The optimiser knows that nobody calls `missing`; the bitcode does not.
const CALLS_NOBODY: &str = r#"
#include <stdio.h>
int missing(int);
static inline int pick(int c, int wide) { return wide ? missing(c) : c; }
int main(void) { printf("%d\n", pick(getchar(), 0)); return 0; }
"#;

#[test]
fn calls_of_what_was_never_linked() {
    let dir = TempDir::new().expect("temporary directory");
    write(dir.path(), &[("nobody.c", CALLS_NOBODY)]);
    tarragon(dir.path(), "cc -O2 nobody.c -o program");
    check(dir.path(), &["traced", "sanitized"], "97\n");
}

#[test]
fn declarations_that_look_alike() {
    let dir = TempDir::new().expect("temporary directory");
    write(dir.path(), &[("classes.cc", CLASSES)]);
    tarragon(dir.path(), "c++ -g classes.cc -o program");
    check(dir.path(), &["traced"], "mine\n");
}

/// A label of assembly can be there once only, and variants have code twice.
const LABELLED: &str = r#"
int next(int x) {
    __asm__ volatile(".globl a_label\na_label: nop");
    return x + 1;
}
"#;

const CALLER: &str = r#"
#include <stdio.h>
int next(int);
int main(void) {
    int c = getchar();
    printf("%d\n", c == 'x' ? 0 : next(c));
    return 0;
}
"#;

#[test]
fn a_module_that_cannot_be_derived_stays_as_it_is() {
    let dir = TempDir::new().expect("temporary directory");
    write(dir.path(), &[("labelled.c", LABELLED), ("caller.c", CALLER)]);
    tarragon(dir.path(), "cc -g labelled.c caller.c -o program");
    check(dir.path(), &["traced", "sanitized"], "98\n");
    let output = Command::new(env!("CARGO_BIN_EXE_tarragon"))
        .args(["fuzz", "--exhaustive", "--max-len", "1", "--lcov", "off", "--", "./program"])
        .current_dir(dir.path())
        .env("TARRAGON_CACHE", dir.path().join("cache"))
        .output()
        .expect("starts");
    let summary = String::from_utf8_lossy(&output.stdout);
    assert!(summary.contains("not traced, so it runs unchanged: labelled.c: "), "{summary}");
    assert!(summary.contains("through next") && summary.contains("not complete"), "{summary}");
}

#[test]
fn a_static_program_has_a_sanitized_variant() {
    let dir = TempDir::new().expect("temporary directory");
    write(
        dir.path(),
        &[("use.c", &USER.replace("int add(int, int);", "#define add(a, b) (a + b)"))],
    );
    tarragon(dir.path(), "cc -static use.c -o program");
    check(dir.path(), &["sanitized"], "98\n");
}

/// Lines cost up to a tenth of the time that code generation takes; only reports of the sanitizers
/// are read with them.
#[test]
fn only_the_sanitized_variant_knows_lines() {
    let dir = TempDir::new().expect("temporary directory");
    write(dir.path(), &[("nobody.c", CALLS_NOBODY)]);
    tarragon(dir.path(), "cc -g -O2 nobody.c -o program");
    let knows_lines = |file: &str| {
        let bytes = std::fs::read(dir.path().join(file)).expect("a file");
        bytes.windows(12).any(|name| name == b".debug_line\0")
    };
    for (variant, expected) in
        [("traced", false), ("covered", false), ("counted", false), ("sanitized", true)]
    {
        tarragon(dir.path(), &format!("variant {variant} ./program -o {variant}"));
        assert_eq!(knows_lines(variant), expected, "{variant}");
    }
}

fn write(dir: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        std::fs::write(dir.join(name), text).expect("written");
    }
}

fn tarragon(dir: &Path, words: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.args(words.split(' ')).current_dir(dir).env("TARRAGON_CACHE", dir.join("cache"));
    assert!(command.stdout(Stdio::null()).status().expect("starts").success(), "{words}");
}

/// The program and its variants print the same.
fn check(dir: &Path, variants: &[&str], expected: &str) {
    for variant in variants {
        tarragon(dir, &format!("variant {variant} ./program -o {variant}"));
    }
    write(dir, &[("input", "a")]);
    for program in ["program"].iter().chain(variants) {
        let input = std::fs::File::open(dir.join("input")).expect("input");
        let output = Command::new(dir.join(program)).stdin(input).output().expect("starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{program}: {output:?}");
    }
}
