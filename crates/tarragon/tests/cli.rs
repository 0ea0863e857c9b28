//! Mistakes on the command line: each gets its message and exit code 2, and nothing is left behind.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn tarragon(dir: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tarragon"))
        .current_dir(dir)
        .args(words)
        .output()
        .expect("tarragon starts")
}

/// Runs in an empty directory; the command must fail with `message`.
fn fails(words: &[&str], message: &str) {
    let dir = TempDir::new().expect("temporary directory");
    fails_in(dir.path(), words, message);
    let left: Vec<_> = fs::read_dir(dir.path()).expect("readable").collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

fn fails_in(dir: &Path, words: &[&str], message: &str) {
    let output = tarragon(dir, words);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(message), "{words:?}: {stderr}");
    assert_eq!(output.status.code(), Some(2), "{words:?}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[test]
fn programs_that_cannot_be_tested() {
    fails(&["fuzz", "--", "./nothing"], "./nothing: there is no such program");
    fails(&["fuzz", "--", "surely-not-in-path"], "there is no such program here or in PATH");
    fails(&["fuzz", "--", "/"], "is not a program");
    fails(&["fuzz", "--", "/bin/sh"], "was not built with Tarragon");
    fails(&["replay", "/dev/null", "--", "./nothing"], "is neither a file nor a directory");
    fails(&["variant", "traced", "./nothing", "-o", "out"], "there is no such program");
}

#[test]
fn seeds_that_cannot_be_used() {
    fails(
        &["fuzz", "--seeds", "nowhere", "--", "/bin/sh"],
        "nowhere: there is no such file or directory",
    );
    let dir = TempDir::new().expect("temporary directory");
    fs::create_dir(dir.path().join("seeds")).expect("made");
    fails_in(
        dir.path(),
        &["fuzz", "--seeds", "seeds", "--", "/bin/sh"],
        "seeds: the directory holds no files",
    );
}

#[test]
fn options_that_make_no_sense() {
    fails(&["fuzz"], "required arguments were not provided");
    fails(
        &["fuzz", "--strategy", "magic", "--", "x"],
        "possible values: whitebox, whitebox-tokens, random, mutate",
    );
    fails(&["fuzz", "--time", "soon", "--", "x"], "write a time as 60s");
    fails(&["fuzz", "--memory", "lots", "--", "x"], "write a size as 512M");
    fails(&["fuzz", "--memory", "1k", "--", "x"], "the least is 1M");
    fails(&["fuzz", "--timeout", "0s", "--", "x"], "the least is 1ms");
    fails(
        &["fuzz", "--solver", "oracle", "--", "x"],
        "there is no solver named oracle; there are: ",
    );
    fails(
        &["fuzz", "--strategy", "random", "--exhaustive", "--", "x"],
        "go with --strategy whitebox only",
    );
    fails(&["fuzz", "--quiet", "--json", "--", "x"], "cannot be used with");
}

#[test]
fn tests_that_cannot_be_written() {
    fails(&["emit", "none", "--as", "c", "--", "/bin/sh"], "none: there is no such file");
    fails(&["emit", "none", "--as", "basic", "--", "x"], "possible values: c, gtest, criterion");
    fails(&["emit", "none", "--as", "c", "--runs", "0", "--", "x"], "0 is not in 1..");
    let dir = TempDir::new().expect("temporary directory");
    fs::write(dir.path().join("file"), "").expect("written");
    let words = ["emit", "file", "--as", "c", "-o", "file", "--", "/bin/sh"];
    fails_in(dir.path(), &words, "give another directory with -o");
}

#[test]
fn directories_that_cannot_take_results() {
    fails(
        &["fuzz", "--resume", "--out", "none", "--", "/bin/sh"],
        "none: there is no such directory",
    );
    let dir = TempDir::new().expect("temporary directory");
    fs::write(dir.path().join("file"), "").expect("written");
    fails_in(dir.path(), &["fuzz", "--out", "file", "--", "/bin/sh"], "file: is not a directory");
}

#[test]
fn grammars_that_cannot_be_read() {
    fails(&["fuzz", "--grammar", "none.y", "--", "x"], "none.y: there is no such file");
    let dir = TempDir::new().expect("temporary directory");
    fs::write(dir.path().join("main.c"), "int main(void) { return 0; }\n").expect("written");
    fails_in(dir.path(), &["fuzz", "--grammar", "main.c", "--", "x"], "--grammar-format");
    fails_in(dir.path(), &["grammar", "check", "main.c"], "--format");
}

#[test]
fn help_shows_examples() {
    let dir = TempDir::new().expect("temporary directory");
    for command in ["fuzz", "replay", "emit"] {
        let output = tarragon(dir.path(), &[command, "--help"]);
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stdout).contains("Examples:"));
    }
}

#[test]
fn compilers_get_their_options_unread() {
    let dir = TempDir::new().expect("temporary directory");
    fs::write(dir.path().join("x.c"), "int help(void) { return HELP; }\n").expect("written");
    let output = tarragon(dir.path(), &["cc", "-DHELP=5", "-E", "-P", "x.c"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "int help(void) { return 5; }");
    let output = tarragon(dir.path(), &["cc", "--help"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("clang"));
    let output = tarragon(dir.path(), &["cc", "-c", "missing.c"]);
    assert_eq!(output.status.code(), Some(1), "clang's own exit code");
}
