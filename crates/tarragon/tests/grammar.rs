//! Campaigns with a grammar, on the bundled interpreter.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;

/// Sprig, built once for all tests.
static SPRIG: LazyLock<TempDir> = LazyLock::new(|| {
    let dir = TempDir::new().expect("temporary directory");
    let sources =
        fs::read_dir(example()).expect("the example").filter_map(|entry| Some(entry.ok()?.path()));
    let sources: Vec<PathBuf> =
        sources.filter(|path| path.extension().is_some_and(|e| e == "c")).collect();
    let built = tarragon(dir.path()).args(["cc", "-g", "-o", "sprig"]).args(sources).output();
    assert!(built.expect("starts").status.success());
    dir
});

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sprig")
}

fn tarragon(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.current_dir(dir).env("TARRAGON_CACHE", dir.join("cache"));
    command
}

fn fuzz(out: &str, options: &[&str]) -> (Output, Value) {
    let grammar = example().join("sprig.tg");
    let mut command = tarragon(SPRIG.path());
    command
        .args(["fuzz", "--lcov", "off", "--sanitizer", "off", "--out", out, "--grammar"])
        .arg(grammar);
    let output = command.args(options).args(["--", "./sprig"]).output().expect("starts");
    let stats = fs::read(SPRIG.path().join(out).join("stats.json")).unwrap_or_default();
    (output, serde_json::from_slice(&stats).unwrap_or_default())
}

fn is_sentence(input: &Path) -> bool {
    let mut command = tarragon(SPRIG.path());
    command.args(["grammar", "parse", "--quiet"]).arg(example().join("sprig.tg")).arg(input);
    command.output().expect("starts").status.success()
}

#[test]
fn every_input_of_grammar_whitebox_parses_and_goes_deeper_than_random_bytes() {
    let (_, stats) = fuzz("whitebox", &["--strategy", "grammar-whitebox", "--max-runs", "600"]);
    let corpus = fs::read_dir(SPRIG.path().join("whitebox/corpus")).expect("a corpus");
    let inputs: Vec<PathBuf> = corpus.filter_map(|entry| Some(entry.ok()?.path())).collect();
    assert!(inputs.len() > 50, "{}", inputs.len());
    let outside: Vec<_> = inputs.iter().filter(|input| !is_sentence(input)).collect();
    assert!(outside.is_empty(), "{outside:?}");
    assert!(
        stats["sentences"]["changed"].as_u64().is_some_and(|changed| changed > 0),
        "{}",
        stats["sentences"]
    );
    let (_, random) = fuzz("random", &["--strategy", "random", "--max-runs", "600"]);
    let covered = |stats: &Value| stats["coverage"]["covered"].as_u64().unwrap_or(0);
    assert!(covered(&stats) > 2 * covered(&random), "{} and {}", covered(&stats), covered(&random));
}

#[test]
fn auto_finds_the_modulo_by_zero() {
    let (output, stats) = fuzz("auto", &["--max-runs", "6000"]);
    assert_eq!(output.status.code(), Some(1), "bugs were found");
    assert_eq!(stats["strategy"], "auto", "the default with a grammar");
    let kinds: Vec<&str> = stats["bugs"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|b| b["kind"].as_str())
        .collect();
    assert!(kinds.iter().any(|kind| kind.contains("SIGFPE")), "{kinds:?}");
}

#[test]
fn seeds_outside_of_the_language_are_named_and_run() {
    fs::create_dir_all(SPRIG.path().join("seeds")).expect("made");
    fs::write(SPRIG.path().join("seeds/good"), "print 1;").expect("written");
    fs::write(SPRIG.path().join("seeds/bad"), "print print").expect("written");
    let (_, stats) =
        fuzz("seeded", &["--seeds", "seeds", "--strategy", "tree-mutate", "--max-runs", "20"]);
    let notes = stats["notes"].as_array().expect("a list");
    let named = |note: &Value| {
        note.as_str().is_some_and(|note| note.contains("1 of 2 seeds") && note.contains("bad"))
    };
    assert!(notes.iter().any(named), "{notes:?}");
}

/// A user's list of names may be dead, because another token takes their text.
#[test]
fn tokens_that_no_text_is_are_told() {
    let grammar = "s = NAME | LIBRARY ; token NAME = /[a-z]+/ ; \
        token LIBRARY = /sin|cos/ ; skip / +/ ;";
    fs::write(SPRIG.path().join("dead.tg"), grammar).expect("written");
    let mut command = tarragon(SPRIG.path());
    let options = ["fuzz", "--lcov", "off", "--sanitizer", "off", "--max-runs", "3"];
    let command = command.args(options).args(["--out", "dead", "--grammar", "dead.tg"]);
    let output = command.args(["--", "./sprig"]).output().expect("starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("one of these tokens") && text.contains("LIBRARY"), "{text}");
}

/// A few seeds do not keep the sentences that cover the grammar away.
#[test]
fn sentences_of_the_grammar_join_the_seeds() {
    fs::create_dir_all(SPRIG.path().join("one")).expect("made");
    fs::write(SPRIG.path().join("one/seed"), "print 1;").expect("written");
    let options = ["--seeds", "one", "--strategy", "grammar-random", "--max-runs", "40"];
    let (_, stats) = fuzz("joined", &options);
    let corpus = fs::read_dir(SPRIG.path().join("joined/corpus")).expect("a corpus");
    let names = corpus.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let from_grammar = names.filter(|name| name.contains("sentence")).count();
    assert!(from_grammar > 5, "{from_grammar} of {}", stats["corpus"]);
}

#[test]
fn strategies_that_need_a_grammar_say_so() {
    let mut command = tarragon(SPRIG.path());
    let output = command
        .args(["fuzz", "--strategy", "grammar-random", "--", "./sprig"])
        .output()
        .expect("starts");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("--grammar FILE"), "{text}");
    let mut command = tarragon(SPRIG.path());
    fs::write(SPRIG.path().join("broken.tg"), "e = ( ;").expect("written");
    let output =
        command.args(["fuzz", "--grammar", "broken.tg", "--", "./sprig"]).output().expect("starts");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("broken.tg:1:"), "{text}");
}

/// Names are four letters and four digits, which only the grammar knows.
const LABELS: &str = r#"
start line ;
token NAME = /[a-z]{4}[0-9]{4}/ ;
skip / +/ ;
line = "put" NAME ";" ;
"#;

const PUT: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char line[64], name[9] = {0};
    if (!fgets(line, sizeof line, stdin) || memcmp(line, "put ", 4) != 0)
        return 1;
    memcpy(name, line + 4, 8);
    if (strstr(name, "rn7"))
        if (strcmp(name, "thyme") > 0)
            abort();
    return 0;
}
"#;

#[test]
fn words_are_looked_for_inside_of_lexemes() {
    let dir = TempDir::new().expect("temporary directory");
    let seeds = dir.path().join("seeds");
    fs::create_dir_all(&seeds).expect("made");
    for (name, text) in [("put.c", PUT), ("put.tg", LABELS), ("seeds/one", "put abcd0000;")] {
        fs::write(dir.path().join(name), text).expect("written");
    }
    let built = tarragon(dir.path()).args(["cc", "-g", "-o", "put", "put.c"]).output();
    assert!(built.expect("starts").status.success());
    let mut command = tarragon(dir.path());
    command.args([
        "fuzz",
        "--lcov",
        "off",
        "--sanitizer",
        "off",
        "--out",
        "out",
        "--max-runs",
        "1000",
    ]);
    command.args(["--grammar", "put.tg", "--seeds", "seeds", "--strategy", "grammar-whitebox"]);
    let output = command.args(["--", "./put"]).output().expect("starts");
    assert_eq!(output.status.code(), Some(1), "a bug: {output:?}");
    let stats = fs::read(dir.path().join("out/stats.json")).expect("statistics");
    let stats: Value = serde_json::from_slice(&stats).expect("statistics");
    assert!(
        stats["sentences"]["solved"].as_u64().is_some_and(|solved| solved > 0),
        "{}",
        stats["sentences"]
    );
}
