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

#[test]
fn as_many_inputs_are_kept_as_there_are_paths() {
    let dir = TempDir::new().expect("temporary directory");
    let stats = common::fuzz(dir.path(), PROGRAM, &[], &OPTIONS, &[]);
    assert_eq!((&stats["paths"], &stats["corpus"]), (&PATHS.into(), &PATHS.into()));
    assert_eq!((&stats["kept_by"], &stats["untraced"]), (&"paths".into(), &0.into()));
    let added = stats["growth"].as_array().expect("a list").len();
    let summary = fs::read_to_string(dir.path().join("out/summary.txt")).expect("a summary");
    let line = format!("({PATHS} inputs in corpus/, one for each path; {added} added coverage)");
    assert!(added < 10 && summary.contains(&line), "{summary}");
    let (files, outcomes) = replayed(dir.path());
    assert_eq!((files, outcomes.len()), (27, 27));
}

#[test]
fn sessions_together_keep_as_many() {
    let dir = TempDir::new().expect("temporary directory");
    let few = [&OPTIONS[..], &["--max-runs", "10"]].concat();
    common::fuzz(dir.path(), PROGRAM, &[], &few, &[]);
    assert_eq!(replayed(dir.path()).0, 10);
    common::resume(dir.path(), &OPTIONS);
    let (files, outcomes) = replayed(dir.path());
    assert_eq!((files, outcomes.len()), (27, 27));
}

#[test]
fn a_session_after_others_that_kept_less_begins_anew() {
    let dir = TempDir::new().expect("temporary directory");
    let by_coverage: Vec<&str> =
        OPTIONS.into_iter().map(|word| if word == "paths" { "coverage" } else { word }).collect();
    common::fuzz(dir.path(), PROGRAM, &[], &by_coverage, &[]);
    assert!(replayed(dir.path()).0 < 10);
    let stats = common::resume(dir.path(), &OPTIONS);
    let notes = stats["notes"].to_string();
    assert!(notes.contains("did not keep an input for each path"), "{notes}");
    let (files, outcomes) = replayed(dir.path());
    assert_eq!((files, outcomes.len()), (27, 27));
}
