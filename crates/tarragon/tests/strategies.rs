//! Every strategy that can be named runs.

mod common;

use common::tarragon;
use serde_json::Value;

/// Takes tokens one by one; `a+b` is a bug.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static int lex(void)
{
    int c = getchar();
    return c == EOF ? 300 : c == '+' ? 301 : c;
}
int main(void)
{
    if (lex() == 'a' && lex() == 301 && lex() == 'b')
        abort();
    return 0;
}
"#;

const GRAMMAR: &str = "sum = /[ab]/ | sum '+' /[ab]/ ;";

/// The values of `--strategy`, as a mistake there is answered.
fn names(dir: &std::path::Path) -> Vec<String> {
    let output =
        tarragon(dir).args(["fuzz", "--strategy", "?", "--", "x"]).output().expect("starts");
    let text = String::from_utf8(output.stderr).expect("text");
    let values = text.split("[possible values: ").nth(1).and_then(|rest| rest.split(']').next());
    values.expect("the values").split(", ").map(str::to_owned).collect()
}

#[test]
fn every_strategy_runs_under_its_name() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("program.c"), PROGRAM).expect("written");
    std::fs::write(dir.path().join("sum.tg"), GRAMMAR).expect("written");
    let built = tarragon(dir.path()).args(["cc", "-g", "program.c", "-o", "program"]).status();
    assert!(built.expect("starts").success());
    let names = names(dir.path());
    assert!(names.len() >= 10, "{names:?}");
    for name in names {
        let mut command = tarragon(dir.path());
        command.args(["fuzz", "--quiet", "--max-runs", "30", "--max-len", "3", "--lcov", "off"]);
        command.args(["--sanitizer", "off", "--grammar", "sum.tg", "--lexer", "lex"]);
        command.args(["--strategy", &name, "--out", &name, "--", "./program"]);
        let output = command.output().expect("starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code < 2), "{name}: {stderr}");
        let stats = std::fs::read(dir.path().join(&name).join("stats.json")).expect("statistics");
        let stats: Value = serde_json::from_slice(&stats).expect("JSON");
        assert_eq!(stats["strategy"], *name, "{stats}");
        assert!(stats["runs"].as_u64().is_some_and(|runs| runs > 0), "{stats}");
    }
}

/// The strategy of a campaign with these options.
fn chosen(dir: &std::path::Path, options: &[&str]) -> String {
    let _ = std::fs::remove_dir_all(dir.join("out"));
    let mut command = tarragon(dir);
    command.args(["fuzz", "--quiet", "--max-runs", "30", "--max-len", "3", "--lcov", "off"]);
    command.args(["--sanitizer", "off", "--out", "out"]).args(options).args(["--", "./program"]);
    command.status().expect("starts");
    let stats = std::fs::read(dir.join("out/stats.json")).expect("statistics");
    let stats: Value = serde_json::from_slice(&stats).expect("JSON");
    stats["strategy"].as_str().expect("a name").to_owned()
}

#[test]
fn the_default_is_the_best_there_is() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("program.c"), PROGRAM).expect("written");
    std::fs::write(dir.path().join("sum.tg"), GRAMMAR).expect("written");
    let built = tarragon(dir.path()).args(["cc", "-g", "program.c", "-o", "program"]).status();
    assert!(built.expect("starts").success());
    assert_eq!(chosen(dir.path(), &[]), "auto");
    assert_eq!(chosen(dir.path(), &["--grammar", "sum.tg"]), "auto");
    for bound in [&["--exhaustive"][..], &["--max-depth", "2"], &["--fixed-len", "3"]] {
        assert_eq!(chosen(dir.path(), bound), "whitebox", "{bound:?}");
    }
}

/// What it reads goes through code that Tarragon cannot follow, so that nothing is left to solve.
const UNFOLLOWED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static int lex(void)
{
    int c = getchar(), copy = c;
    __asm__ volatile("" : "+r"(copy));
    return copy;
}
int main(void)
{
    if (lex() == 'a')
        puts("a");
    return 0;
}
"#;

#[test]
fn what_is_left_of_the_runs_is_used() {
    let fresh = &["--fresh-process"][..];
    // What runs before them in a process may have decided traces, too.
    for (source, more, ends_early) in
        [(PROGRAM, fresh, true), (PROGRAM, &[], false), (UNFOLLOWED, &[], false)]
    {
        for strategy in ["whitebox", "auto"] {
            let dir = tempfile::tempdir().expect("a directory");
            let options = ["--strategy", strategy, "--max-runs", "3000", "--sanitizer", "off"];
            let options = [&options[..], more].concat();
            let stats = common::fuzz(dir.path(), source, &[], &options, &[]);
            let (stopped, runs) = (&stats["stopped"], stats["runs"].as_u64().unwrap_or_default());
            assert_eq!(runs < 3000, ends_early, "{strategy}: {stopped}");
            assert_eq!(stopped.to_string().contains("complete"), ends_early, "{stopped}");
        }
    }
}

/// What a session says of its strategy, and what it notes.
fn session(dir: &std::path::Path, options: &[&str]) -> (String, String) {
    let mut command = tarragon(dir);
    command.args(["fuzz", "--quiet", "--lcov", "off", "--max-runs", "5"]).args(options);
    let output = command.args(["--", "./program"]).output().expect("starts");
    assert_ne!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let stats = std::fs::read(dir.join("tarragon-out/stats.json")).expect("statistics");
    let stats: Value = serde_json::from_slice(&stats).expect("JSON");
    (stats["strategy"].as_str().expect("a name").to_owned(), stats["notes"].to_string())
}

#[test]
fn a_campaign_goes_on_with_its_strategy() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    std::fs::write(dir.join("program.c"), PROGRAM).expect("written");
    let built = tarragon(dir).args(["cc", "-g", "program.c", "-o", "program"]).status();
    assert!(built.expect("starts").success());
    let told = |notes: &str, text: &str| notes.contains(text);
    let changed = "the campaign had the strategy ";
    session(dir, &["--strategy", "mutate"]);
    let (name, notes) = session(dir, &["--resume"]);
    assert!(name == "mutate" && !told(&notes, changed), "{name} {notes}");
    let (name, notes) = session(dir, &["--resume", "--strategy", "whitebox"]);
    assert!(name == "whitebox", "{name}");
    assert!(told(&notes, "the campaign had the strategy mutate and goes on with whitebox"));
    session(dir, &["--resume", "--strategy", "mutate"]);
    let (name, notes) = session(dir, &["--resume", "--max-depth", "3"]);
    assert!(name == "whitebox" && told(&notes, changed), "{name} {notes}");
}
