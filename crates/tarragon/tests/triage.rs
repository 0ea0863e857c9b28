//! What the program itself says about finds: in the summary of a campaign, in `replay` and in
//! `triage`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// One mistake for each first byte. Some show in a variant only, which knows itself by where its
/// file is.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;
/* Rounds of a loop overflow no signed number. */
static volatile unsigned rounds;

static int is_variant(void)
{
    char name[4096] = "";
    return readlink("/proc/self/exe", name, sizeof name - 1) > 0 && strstr(name, "/bin/program");
}

static int divide(int a, int b)
{
    return a / b;
}

static void spin(int by)
{
    for (;;)
        rounds += by;
}

int main(void)
{
    int kind = getchar(), value = getchar();
    char *text = calloc(1, 8);
    if (kind == 'd')
        sink = divide(7, value - '0');
    if (kind == 'h')
        spin(value == '1' ? 3 : value == '2' ? 5 : 7);
    if (kind == 'i' && value >= '0' && value <= '9')
        sink = text[value - '0'];
    if (kind == 'b' && value == '7')
        sink = divide(value * 99999999, sink);
    if (kind == 'v' && is_variant())
        abort();
    while (kind == 'w' && is_variant())
        rounds++;
    return 0;
}
"#;

fn tarragon(dir: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.current_dir(dir).env("TARRAGON_CACHE", dir.join("cache")).args(words);
    command.output().expect("tarragon starts")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn build(dir: &Path, source: &str) {
    fs::write(dir.join("program.c"), source).expect("written");
    assert!(tarragon(dir, &["cc", "-g", "-w", "program.c", "-o", "program"]).status.success());
}

/// A campaign in `out` that runs a few seeds.
fn fuzz(dir: &Path, out: &str, seeds: &[&str], options: &[&str]) -> Value {
    let from = format!("{out}-seeds");
    write(dir, &from, seeds);
    let runs = seeds.len().to_string();
    let words = [
        "fuzz",
        "--quiet",
        "--out",
        out,
        "--seeds",
        &from,
        "--lcov",
        "off",
        "--strategy",
        "random",
    ];
    let more = ["--max-runs", &runs, "--", "./program"];
    tarragon(dir, &[&words[..], options, &more].concat());
    stats(dir, out)
}

fn write(dir: &Path, to: &str, inputs: &[&str]) {
    fs::create_dir(dir.join(to)).expect("made");
    for (number, input) in inputs.iter().enumerate() {
        fs::write(dir.join(format!("{to}/{number}")), input).expect("written");
    }
}

fn stats(dir: &Path, out: &str) -> Value {
    let stats = fs::read(dir.join(out).join("stats.json")).expect("statistics");
    serde_json::from_slice(&stats).expect("JSON")
}

fn list<'a>(stats: &'a Value, name: &str) -> Vec<(&'a str, &'a str)> {
    let list = stats[name].as_array().expect("a list").iter();
    list.map(|bug| (bug["kind"].as_str().unwrap_or("?"), bug["plain"].as_str().unwrap_or("?")))
        .collect()
}

#[test]
fn finds_are_confirmed_on_the_program_itself() {
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), PROGRAM);
    let stats = fuzz(dir.path(), "out", &["x", "d0", "i9", "v"], &[]);
    assert_eq!(
        list(&stats, "bugs"),
        [
            ("SIGFPE (integer-divide-by-zero)", "SIGFPE"),
            ("heap-buffer-overflow", "exit 0, reported by the sanitized variant"),
            ("SIGABRT (ABRT)", "exit 0, the variant disagrees"),
        ]
    );
    let summary = fs::read_to_string(dir.path().join("out/summary.txt")).expect("a summary");
    assert!(summary.contains("the plain program: SIGFPE)"), "{summary}");
    let report =
        fs::read_to_string(dir.path().join("out/reports/000001-sigfpe.txt")).expect("a report");
    assert!(report.contains("\nplain       SIGFPE\n"), "{report}");

    // The bugs that a campaign found show when they are run again.
    let replay = tarragon(dir.path(), &["replay", "out/crashes", "--", "./program"]);
    let shown = text(&replay);
    assert!(shown.contains("3 inputs, 3 of them show bugs"), "{shown}");
    assert!(shown.starts_with("SIGFPE "), "{shown}");
    assert!(shown.contains("    heap-buffer-overflow in "), "{shown}");
    assert!(shown.contains("the traced variant disagrees: SIGABRT"), "{shown}");
    assert_eq!(replay.status.code(), Some(1));
}

#[test]
fn hangs_are_one_for_each_loop_and_no_bugs() {
    const TIMEOUT: [&str; 2] = ["--timeout", "300ms"];
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), PROGRAM);
    let found = fuzz(dir.path(), "out", &["h1", "x"], &TIMEOUT);
    assert_eq!(list(&found, "bugs"), []);
    assert_eq!(list(&found, "hangs"), [("long or endless loop", "timeout")]);
    let at = found["hangs"][0]["stack"][0].as_str().expect("a frame");
    assert!(at.ends_with(" (spin)"), "{at}");

    let slow = fuzz(dir.path(), "slow", &["w", "x"], &TIMEOUT);
    assert_eq!((list(&slow, "hangs"), &slow["slow_in_variant"]), (vec![], &Value::from(1)));

    let ignored =
        fuzz(dir.path(), "ignored", &["h1", "x"], &[&TIMEOUT[..], &["--hangs", "off"]].concat());
    assert_eq!((list(&ignored, "hangs"), &ignored["timeouts"]), (vec![], &Value::from(1)));
    assert_eq!(fs::read_dir(dir.path().join("ignored/hangs")).expect("readable").count(), 0);

    write(dir.path(), "more", &["h2", "h"]);
    let triage = |options: &[&str]| {
        let words = ["out", "more", "--", "./program"];
        tarragon(dir.path(), &[&["triage"], &TIMEOUT[..], options, &words].concat())
    };
    let shown = triage(&[]);
    assert!(text(&shown).contains("3 inputs: 0 bugs and 1 hangs show"), "{}", text(&shown));
    assert_eq!(shown.status.code(), Some(0));
    assert_eq!(triage(&["--hangs", "bugs"]).status.code(), Some(1));
}

#[test]
fn triage_says_what_a_fix_has_changed() {
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), PROGRAM);
    fuzz(dir.path(), "out", &["x", "d0", "i9", "b7"], &[]);
    let triage = || {
        let output = tarragon(dir.path(), &["triage", "--json", "out", "--", "./program"]);
        let lines: Vec<Value> =
            text(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let (total, inputs) = lines.split_last().expect("a line");
        let mut seen: Vec<String> = inputs
            .iter()
            .map(|one| {
                format!("{} {}", one["recorded"]["kind"].as_str().unwrap_or("?"), one["status"])
            })
            .collect();
        seen.sort();
        (output.status.code(), seen, total["causes"].as_array().map_or(0, Vec::len))
    };
    let (code, seen, causes) = triage();
    assert_eq!((code, causes), (Some(1), 3), "{seen:?}");
    let all = [
        "SIGFPE (integer-divide-by-zero) \"shows\"",
        "heap-buffer-overflow \"shows\"",
        "signed-integer-overflow \"shows\"",
    ];
    assert_eq!(seen, all);

    // The input that overflows divides by zero, too.
    let fix = |from: &str, to: &str| {
        let source = fs::read_to_string(dir.path().join("program.c")).expect("the source");
        assert!(source.contains(from));
        build(dir.path(), &source.replace(from, to));
    };
    fix("value * 99999999", "value * 9");
    fix("value <= '9'", "value <= '7'");
    let (code, seen, causes) = triage();
    let some = [
        "SIGFPE (integer-divide-by-zero) \"shows\"",
        "heap-buffer-overflow \"gone\"",
        "signed-integer-overflow \"other\"",
    ];
    assert_eq!((code, causes), (Some(1), 1), "{seen:?}");
    assert_eq!(seen, some);
    fix("a / b", "b ? a / b : 0");
    let (code, seen, causes) = triage();
    assert_eq!((code, causes), (Some(0), 0), "{seen:?}");
    assert!(seen.iter().all(|line| line.ends_with("\"gone\"")), "{seen:?}");
}

const LEAKS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char *text = malloc(10);
    text[0] = getchar();
    if (text[0] == 'l')
        text = malloc(20);
    free(text);
    return 0;
}
"#;

#[test]
fn a_bug_is_gone_only_if_it_was_looked_for() {
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), LEAKS);
    let found = fuzz(dir.path(), "out", &["l"], &["--sanitizer", "address,leak"]);
    assert_eq!(
        list(&found, "bugs"),
        [("memory-leak", "exit 0, reported by the sanitized variant")]
    );
    let again = |options: &[&str]| {
        let output = tarragon(dir.path(), &[options, &["out", "--", "./program"]].concat());
        (text(&output), output.status.code())
    };
    let (shown, code) = again(&["triage"]);
    assert!(shown.starts_with("shows ") && code == Some(1), "{shown}");
    let (shown, code) = again(&["replay"]);
    assert!(shown.contains("memory-leak") && code == Some(1), "{shown}");
    let (shown, code) = again(&["triage", "--sanitizer", "off"]);
    assert!(shown.contains("1 were not checked") && code == Some(0), "{shown}");
    build(dir.path(), &LEAKS.replace("text = malloc(20)", "text[1] = 0"));
    let (shown, code) = again(&["triage"]);
    assert!(shown.starts_with("gone ") && code == Some(0), "{shown}");
}

/// Runs of `e` do not end, and others make a mistake before that or crash after a while.
const SLOW: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    volatile char *text = malloc(8);
    int kind = getchar();
    if (kind == 'o')
        text[8] = 1;
    while (kind == 'o' || kind == 'e')
        text[0]++;
    return 0;
}
"#;

#[test]
fn a_mistake_on_the_way_to_an_endless_loop_is_a_bug() {
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), SLOW);
    let options = ["--timeout", "300ms", "--hangs", "off"];
    let found = fuzz(dir.path(), "out", &["e", "o"], &options);
    assert_eq!(list(&found, "bugs"), [("heap-buffer-overflow", "timeout")]);
    let replay =
        tarragon(dir.path(), &["replay", "--timeout", "300ms", "out/crashes", "--", "./program"]);
    assert_eq!(replay.status.code(), Some(1), "{}", text(&replay));
}

const OVERFLOWS: &str = r#"
#include <stdio.h>
#include <string.h>
int main(void)
{
    int x = 0;
    unsigned char text[4] = {0};
    if (fread(text, 1, sizeof text, stdin) < sizeof text)
        return 1;
    memcpy(&x, text, sizeof x);
    return x + 1000 > 0;
}
"#;

#[test]
fn violations_have_a_place_and_an_input() {
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), OVERFLOWS);
    let words = [
        "fuzz",
        "--quiet",
        "--sanitizer",
        "off",
        "--max-len",
        "4",
        "--max-runs",
        "100",
        "--lcov",
        "off",
    ];
    tarragon(dir.path(), &[&words[..], &["--out", "out", "--", "./program"]].concat());
    let stats = stats(dir.path(), "out");
    let violation = &stats["violations"][0];
    assert_eq!(violation["property"], "signed overflow", "{stats}");
    assert!(
        violation["place"].as_str().is_some_and(|at| at.contains("program.c:11:")),
        "{violation}"
    );
    let file = violation["file"].as_str().expect("a file");
    let input = fs::read(dir.path().join("out").join(file)).expect("the input");
    let value = i32::from_le_bytes(input[..4].try_into().expect("four bytes"));
    assert!(value.checked_add(1000).is_none(), "{value}");
    let summary = fs::read_to_string(dir.path().join("out/summary.txt")).expect("a summary");
    assert!(summary.contains("violated without a crash: signed overflow at "), "{summary}");
}
