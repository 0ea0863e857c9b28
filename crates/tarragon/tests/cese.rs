//! CESE and its baselines on a small program: only holes change, and all paths are found.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;

/// Reads one line: `?` and a lower-case letter, then `x` or `y`; divides by the letter's distance
/// to `q`.
const PROGRAM: &str = r#"
#include <stdio.h>
int main(void) {
    char line[16];
    if (!fgets(line, sizeof line, stdin) || line[0] != '?')
        return 1;
    if (line[1] < 'a' || line[1] > 'z')
        return 2;
    int share = 100 / (line[1] - 'q');
    return line[2] == 'x' ? share > 3 : 4;
}
"#;

const GRAMMAR: &str = "line = '?' /[a-z]/ ('x' | 'y') '\\n' ;";

static BUILT: LazyLock<TempDir> = LazyLock::new(|| {
    let dir = TempDir::new().expect("temporary directory");
    fs::write(dir.path().join("ask.c"), PROGRAM).expect("written");
    fs::write(dir.path().join("ask.tg"), GRAMMAR).expect("written");
    let built = tarragon(dir.path()).args(["cc", "-g", "-o", "ask", "ask.c"]).status();
    assert!(built.expect("starts").success());
    dir
});

fn tarragon(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.current_dir(dir).env("TARRAGON_CACHE", dir.join("cache"));
    command
}

fn fuzz(out: &str, options: &[&str]) -> Value {
    let mut command = tarragon(BUILT.path());
    command
        .args(["fuzz", "--quiet", "--lcov", "off", "--sanitizer", "off", "--out", out])
        .args(options);
    let output = command.args(["--", "./ask"]).output().expect("starts");
    let stats = fs::read(BUILT.path().join(out).join("stats.json")).unwrap_or_default();
    serde_json::from_slice(&stats)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn inputs(out: &str) -> BTreeSet<Vec<u8>> {
    let found = |part: &str| fs::read_dir(BUILT.path().join(out).join(part)).expect("a directory");
    let paths =
        found("corpus").chain(found("crashes")).filter_map(|entry| Some(entry.ok()?.path()));
    let is_input = |path: &PathBuf| path.extension().is_none();
    paths.filter(is_input).filter_map(|path| fs::read(path).ok()).collect()
}

#[test]
fn only_holes_change_and_all_paths_are_found() {
    let stats = fuzz("free", &["--strategy", "cese", "--grammar", "ask.tg", "--max-len", "4"]);
    let completeness = &stats["completeness"];
    assert_eq!(completeness["complete"], true, "{completeness}");
    let text = "all paths of all strings up to length 4 were explored (2 symbolic strings, 10 \
                inputs, 10 paths)";
    assert_eq!(completeness["text"], text);
    assert!(
        stats["bugs"][0]["kind"].as_str().is_some_and(|kind| kind.contains("SIGFPE")),
        "{}",
        stats["bugs"]
    );
    let inputs = inputs("free");
    assert!(inputs.iter().all(|i| i.len() == 4 && i[0] == b'?' && i[3] == b'\n'), "{inputs:?}");
    assert!(inputs.iter().any(|i| !i[1].is_ascii_lowercase()), "{inputs:?}");
}

#[test]
fn valid_holes_make_sentences_only() {
    let options =
        ["--strategy", "cese", "--holes", "valid", "--grammar", "ask.tg", "--max-len", "4"];
    let stats = fuzz("valid", &options);
    assert_eq!(
        stats["completeness"]["enumeration"]["sizes"][0]["inputs"], 4,
        "{}",
        stats["completeness"]
    );
    let inputs = inputs("valid");
    assert!(inputs.iter().all(|input| input[1].is_ascii_lowercase()), "{inputs:?}");
    let all =
        fuzz("all", &["--strategy", "grammar-enumerate", "--grammar", "ask.tg", "--max-len", "4"]);
    assert_eq!(all["runs"].as_u64().map(|runs| runs >= 52), Some(true), "{}", all["runs"]);
    assert_eq!(all["coverage"]["covered"], stats["coverage"]["covered"]);
}

#[test]
fn a_fixed_buffer_keeps_its_length() {
    let stats = fuzz("fixed", &["--strategy", "whitebox", "--exhaustive", "--fixed-len", "3"]);
    assert_eq!(stats["completeness"]["complete"], true, "{}", stats["completeness"]);
    let inputs = inputs("fixed");
    assert!(inputs.len() > 3 && inputs.iter().all(|input| input.len() == 3), "{inputs:?}");
}

#[test]
fn what_does_not_go_together_is_said() {
    let error = |options: &[&str]| {
        let mut command = tarragon(BUILT.path());
        let output =
            command.args(["fuzz", "--out", "no"]).args(options).args(["--", "./ask"]).output();
        let output = output.expect("starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = error(&["--strategy", "cese"]);
    assert!(code == Some(2) && text.contains("--grammar FILE"), "{text}");
    let (code, text) = error(&["--strategy", "random", "--fixed-len", "3"]);
    assert!(code == Some(2) && text.contains("--fixed-len goes with"), "{text}");
    let (code, text) = error(&["--strategy", "cese", "--grammar", "ask.tg", "--keep", "nothing"]);
    assert!(code == Some(2) && text.contains("there is no terminal `nothing`"), "{text}");
}

/// The objects that `replay` prints; the last one is about the smaller suite, if that is asked for.
fn replay(words: &[&str]) -> Vec<Value> {
    let output = tarragon(BUILT.path())
        .args(["replay", "--json"])
        .args(words)
        .args(["--", "./ask"])
        .output();
    let text = String::from_utf8(output.expect("starts").stdout).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn covered(lines: &[Value]) -> u64 {
    lines.iter().find_map(|line| line["coverage"]["covered"].as_u64()).expect("coverage")
}

#[test]
fn a_suite_runs_without_solving_and_its_smallest_part_covers_the_same() {
    let stats = fuzz("suite", &["--strategy", "cese", "--grammar", "ask.tg", "--max-len", "4"]);
    let all = replay(&["suite", "--minimise", "smallest"]);
    assert_eq!(
        Some(covered(&all)),
        stats["coverage"]["covered"].as_u64(),
        "replay covers what the search did"
    );
    let said = all.last().expect("a line");
    assert_eq!(said["smallest"], true);
    let kept = fs::read_dir(BUILT.path().join("smallest")).expect("a directory").count();
    assert_eq!(said["kept"].as_u64(), Some(kept as u64));
    assert!(kept < inputs("suite").len());
    assert_eq!(covered(&replay(&["smallest"])), covered(&all));
}
