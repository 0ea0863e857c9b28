//! What scripts go by: when a campaign ends, and what is said before its first run.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::tarragon;
use serde_json::Value;
use tempfile::TempDir;

const BUGS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    int c = getchar(), d = getchar();
    if (c == 'a')
        abort();
    if (c == 'b' && d == 'b')
        abort();
    if (c == 'c' && d == 'c')
        abort();
    return LIMIT < c;
}
"#;

fn build(dir: &Path, name: &str, limit: char) {
    let file = format!("{name}.c");
    let source = format!("#define LIMIT '{limit}'\n{BUGS}");
    std::fs::write(dir.join(&file), source).expect("written");
    let built = tarragon(dir).args(["cc", "-g", &file, "-o", name]).status().expect("starts");
    assert!(built.success());
}

fn fuzz(dir: &Path, options: &[&str]) -> (Output, Value) {
    let _ = std::fs::remove_dir_all(dir.join("out"));
    let fixed = ["fuzz", "--out", "out", "--lcov", "off", "--sanitizer", "off"];
    let mut command = tarragon(dir);
    let output = command.args(fixed).args(options).args(["--", "./program"]).output();
    let stats = std::fs::read(dir.join("out/stats.json")).expect("statistics");
    (output.expect("starts"), serde_json::from_slice(&stats).expect("JSON"))
}

#[test]
fn a_campaign_ends_at_the_bug_that_was_asked_for() {
    let dir = TempDir::new().expect("a directory");
    build(dir.path(), "program", 'a');
    for (option, bugs, why) in [
        ("--stop-on-bug", 1, "a bug was found (--stop-on-bug)"),
        ("--stop-on-bug=2", 2, "2 bugs were found (--stop-on-bug)"),
        ("--stop-on-bug=9", 3, "complete: all paths within the bounds were explored"),
    ] {
        let (output, stats) = fuzz(dir.path(), &[option, "--fresh-process"]);
        assert_eq!(output.status.code(), Some(1), "{option}");
        assert_eq!(stats["bugs"].as_array().map(Vec::len), Some(bugs), "{option}: {stats}");
        assert_eq!(stats["stopped"], why, "{option}");
        let summary = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(summary.lines().next().is_some_and(|line| line.ends_with(why)), "{summary}");
    }
    // What an earlier session found does not count.
    let again = ["fuzz", "--resume", "--out", "out", "--lcov", "off", "--stop-on-bug"];
    let mut command = tarragon(dir.path());
    let output = command
        .args(again)
        .args(["--sanitizer", "off", "--max-runs", "500", "--", "./program"])
        .output();
    let summary = String::from_utf8(output.expect("starts").stdout).expect("text");
    assert!(!summary.contains("--stop-on-bug"), "{summary}");
}

#[test]
fn a_check_ends_at_the_difference_that_was_asked_for() {
    let dir = TempDir::new().expect("a directory");
    build(dir.path(), "one", 'a');
    build(dir.path(), "two", 'd');
    let words = ["diff", "--out", "out", "--stop-on-bug", "--", "./one", "--", "./two"];
    let output = tarragon(dir.path()).args(words).output().expect("starts");
    assert_eq!(output.status.code(), Some(1));
    let summary = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(summary.contains("(--stop-on-bug)"), "{summary}");
}

/// Starts the instrumenter late, so that preparation takes longer than a campaign.
fn slow_instrumenter(dir: &Path) -> std::path::PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_tarragon")).with_file_name("tarragon-instrument");
    let script = dir.join("instrument");
    let text = format!("#!/bin/sh\nsleep 3\nexec {} \"$@\"\n", program.display());
    std::fs::write(&script, text).expect("written");
    assert!(Command::new("chmod").arg("+x").arg(&script).status().expect("chmod").success());
    script
}

#[test]
fn preparation_is_told_and_does_not_count() {
    let dir = TempDir::new().expect("a directory");
    build(dir.path(), "program", 'a');
    let script = slow_instrumenter(dir.path());
    for (options, expected) in [
        (&[][..], "preparing ./program (only once for each build): 0 of 1 variants are ready"),
        (&["--json"][..], r#""event":"preparing","program":"./program","ready":0,"of":1"#),
    ] {
        let _ = std::fs::remove_dir_all(dir.path().join("cache"));
        let _ = std::fs::remove_dir_all(dir.path().join("out"));
        let mut command = tarragon(dir.path());
        command.env("TARRAGON_INSTRUMENT", &script).args(["fuzz", "--lcov", "off"]).args(options);
        command.args(["--sanitizer", "off", "--strategy", "random", "--time", "2s"]);
        let output = command.args(["--out", "out", "--", "./program"]).output().expect("starts");
        let said = if options.is_empty() { &output.stderr } else { &output.stdout };
        let said = String::from_utf8_lossy(said);
        assert!(said.contains(expected), "{said}");
        let stats = std::fs::read(dir.path().join("out/stats.json")).expect("statistics");
        let stats: Value = serde_json::from_slice(&stats).expect("JSON");
        assert_eq!(stats["stopped"], "the time was up");
        assert!(stats["runs"].as_u64() > Some(20), "{}", stats["runs"]);
    }
}
