//! Limits of the user's shell, and places that cannot be written: what Tarragon cannot do, it says,
//! with how to go on.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A program that is built and may be tested, in a directory of its own.
fn program() -> TempDir {
    let dir = TempDir::new().expect("temporary directory");
    std::fs::write(dir.path().join("p.c"), "int main(void) { return 0; }\n").expect("written");
    let built = shell(dir.path(), "tarragon cc p.c -o p");
    assert_eq!(built, (0, String::new()));
    dir
}

/// Exit code and standard error of commands in `dir`.
fn shell(dir: &Path, commands: &str) -> (i32, String) {
    let folder = Path::new(env!("CARGO_BIN_EXE_tarragon")).parent().expect("a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a path"));
    let mut shell = Command::new("bash");
    shell
        .current_dir(dir)
        .args(["-c", commands])
        .env("PATH", path)
        .env("TARRAGON_CACHE", dir.join("cache"));
    let output = shell.output().expect("starts");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

const FUZZ: &str =
    "rm -rf tarragon-out; tarragon fuzz --quiet --max-runs 3 --sanitizer off --lcov off -- ./p";

#[test]
fn low_limits_are_raised_or_named() {
    let dir = program();
    assert_eq!(shell(dir.path(), &format!("ulimit -Sn 64; {FUZZ}")), (0, String::new()));
    let (code, error) = shell(dir.path(), &format!("ulimit -n 64; {FUZZ}"));
    assert!(code == 2 && error.contains("ulimit -n 256"), "{error}");
    let (code, error) = shell(dir.path(), &format!("ulimit -f 8; {FUZZ}"));
    assert!(code == 2 && error.contains("ulimit -f"), "{error}");
}

#[test]
fn without_a_home_variants_are_kept_elsewhere() {
    let dir = program();
    let elsewhere = "unset TARRAGON_CACHE XDG_CACHE_HOME; mkdir tmp; export TMPDIR=$PWD/tmp";
    let seen = shell(dir.path(), &format!("{elsewhere}; export HOME=/proc/none; {FUZZ}"));
    assert_eq!(seen, (0, String::new()));
    let (code, error) = shell(dir.path(), &format!("export TARRAGON_CACHE=/proc/none; {FUZZ}"));
    assert!(code == 2 && error.contains("/proc/none"), "{error}");
}

#[test]
fn seeds_that_are_no_files_are_named() {
    let dir = program();
    let (code, error) = shell(dir.path(), "mkfifo pipe; tarragon fuzz --seeds pipe -- ./p");
    assert!(code == 2 && error.contains("pipe: is neither a file nor a directory"), "{error}");
}
