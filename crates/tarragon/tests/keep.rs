//! An input for each path: as many as the program has, also over several sessions.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

/// For each of three bytes: is it an `a`, and if not, a `b`? Coverage needs three inputs.
const PROGRAM: &str = r#"
#include <unistd.h>

int main(void)
{
    char text[3];
    int value = 0;
    if (read(0, text, 3) != 3)
        return 99;
    for (int i = 0; i < 3; i++) {
        value *= 3;
        if (text[i] == 'a')
            value += 1;
        else if (text[i] == 'b')
            value += 2;
    }
    return value;
}
"#;

/// Three ways for each byte.
const PATHS: u64 = 27;

/// The exit codes of the kept inputs, each of which stands for a path.
fn replayed(dir: &Path) -> (usize, BTreeSet<String>) {
    let output = common::tarragon(dir)
        .args(["replay", "--json", "--sanitizer", "off", "out", "--", "./program"])
        .output()
        .expect("starts");
    let text = String::from_utf8(output.stdout).expect("text");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let outcomes = lines.filter_map(|line| Some(line["outcome"].as_str()?.to_owned()));
    let files = fs::read_dir(dir.join("out/corpus")).expect("a corpus").count();
    (files, outcomes.collect())
}

const OPTIONS: [&str; 9] = [
    "--exhaustive",
    "--fixed-len",
    "3",
    "--keep-by",
    "paths",
    "--sanitizer",
    "off",
    "--lcov",
    "off",
];

/// One program, so that its variants are made only once.
#[test]
fn each_path_has_an_input_whatever_the_sessions() {
    let dir = TempDir::new().expect("temporary directory");
    as_many_inputs_are_kept_as_there_are_paths(dir.path());
    fs::remove_dir_all(dir.path().join("out")).expect("removed");
    sessions_together_keep_as_many(dir.path());
    fs::remove_dir_all(dir.path().join("out")).expect("removed");
    a_session_after_others_that_kept_less_begins_anew(dir.path());
}

fn as_many_inputs_are_kept_as_there_are_paths(dir: &Path) {
    let stats = common::fuzz(dir, PROGRAM, &[], &OPTIONS, &[]);
    assert_eq!((&stats["paths"], &stats["corpus"]), (&PATHS.into(), &PATHS.into()));
    assert_eq!((&stats["kept_by"], &stats["untraced"]), (&"paths".into(), &0.into()));
    let added = stats["growth"].as_array().expect("a list").len();
    let summary = fs::read_to_string(dir.join("out/summary.txt")).expect("a summary");
    let line = format!("({PATHS} inputs in corpus/, one for each path; {added} added coverage)");
    assert!(added < 10 && summary.contains(&line), "{summary}");
    assert_all_are_there(dir);
}

fn sessions_together_keep_as_many(dir: &Path) {
    let few = [&OPTIONS[..], &["--max-runs", "10"]].concat();
    common::fuzz(dir, PROGRAM, &[], &few, &[]);
    assert_eq!(replayed(dir).0, 10);
    common::resume(dir, &OPTIONS);
    assert_all_are_there(dir);
}

fn a_session_after_others_that_kept_less_begins_anew(dir: &Path) {
    let by_coverage = OPTIONS.map(|word| if word == "paths" { "coverage" } else { word });
    common::fuzz(dir, PROGRAM, &[], &by_coverage, &[]);
    assert!(replayed(dir).0 < 10);
    let stats = common::resume(dir, &OPTIONS);
    let notes = stats["notes"].to_string();
    assert!(notes.contains("did not keep an input for each path"), "{notes}");
    assert_all_are_there(dir);
}

fn assert_all_are_there(dir: &Path) {
    let (files, outcomes) = replayed(dir);
    assert_eq!((files as u64, outcomes.len() as u64), (PATHS, PATHS));
}
