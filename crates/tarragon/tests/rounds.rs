//! What a report says about a loop that does not end: which it is, how often it went round, what
//! keeps it going, and which bytes of the input that depends on.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const PROGRAM: &str = r#"
#include <stdio.h>

struct node { int value; struct node *next; };

static volatile unsigned calm, limit = 3;

static unsigned driven(int step)
{
    int i = 0, n = 10;
    while (i < n) { /* driven */
        i += step;
        calm++;
    }
    return i;
}

static unsigned nested(int last)
{
    for (;;) { /* outer */
        for (int j = 0; j < 5; j++)
            calm += j;
        if (last == 'x')
            break;
    }
    return calm;
}

static unsigned inner_of_two(int step)
{
    for (int i = 0; i < 3; i++) /* around */
        for (int j = 0; j < 3; j += step) /* inner */
            calm++;
    return calm;
}

static unsigned concrete(void)
{
    unsigned k = 10;
    while (k != limit) /* concrete */
        k += 2;
    return k;
}

static int cyclic(int value)
{
    struct node a = { 1, NULL }, b = { 2, &a };
    a.next = &b;
    const struct node *p = &a;
    while (p && p->value != value) { /* cyclic */
        p = p->next;
        calm++;
    }
    return p ? p->value : 0;
}

static unsigned without_a_way_out(void)
{
    for (;;) /* closed */
        calm++;
}

static unsigned slow(void)
{
    while (calm < 1000) /* slow */
        calm++;
    return calm;
}

int main(void)
{
    int kind = getchar(), value = getchar();
    switch (kind) {
    case 'd': return driven(value - '0') == 99;
    case 'n': return nested(value) == 99;
    case 'i': return inner_of_two(value - '0') == 99;
    case 'k': return concrete() == 99;
    case 'c': return cyclic(value) == 99;
    case 'e': return without_a_way_out() == 99;
    case 's': return slow() == 99;
    }
    return 0;
}
"#;

fn tarragon(dir: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.current_dir(dir).env("TARRAGON_CACHE", dir.join("cache")).args(words);
    command.output().expect("tarragon starts")
}

fn prepared(inputs: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("program.c"), PROGRAM).expect("written");
    let built = tarragon(dir.path(), &["cc", "-g", "program.c", "-o", "program"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    fs::create_dir(dir.path().join("inputs")).expect("a folder");
    for input in inputs {
        fs::write(dir.path().join("inputs").join(input), input).expect("written");
    }
    dir
}

/// What `replay` says about each input, by its name.
fn replayed(dir: &Path) -> impl Fn(&str) -> Value {
    let words = ["replay", "--json", "--timeout", "1s", "inputs", "--", "./program"];
    let shown = String::from_utf8(tarragon(dir, &words).stdout).expect("text");
    let lines: Vec<Value> =
        shown.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    move |input| {
        let path = format!("inputs/{input}");
        let line = lines.iter().find(|line| line["path"] == path.as_str());
        line.unwrap_or_else(|| panic!("{path} was not run: {shown}")).clone()
    }
}

/// Whether a loop's line is the one with this comment.
fn is_at(of: &Value, comment: &str) -> bool {
    let line = PROGRAM.lines().position(|line| line.contains(&format!("/* {comment} */")));
    let start = format!("program.c:{}:", line.expect("it is there") + 1);
    of["place"].as_str().is_some_and(|place| place.starts_with(&start))
}

fn list(of: &Value) -> &[Value] {
    of.as_array().map_or(&[], Vec::as_slice)
}

fn offsets(of: &Value) -> Vec<u64> {
    list(of).iter().filter_map(|byte| byte["offset"].as_u64()).collect()
}

#[test]
fn a_loop_is_named_with_what_keeps_it_going() {
    let dir = prepared(&["d0", "k", "c7"]);
    let of = replayed(dir.path());

    let driven = of("d0")["rounds"]["loops"][0].clone();
    assert!(is_at(&driven, "driven") && driven["function"] == "driven", "{driven}");
    assert!(driven["rounds"].as_u64().is_some_and(|rounds| rounds > 4), "{driven}");
    let condition = &driven["conditions"][0];
    assert_eq!(condition["goes_on_while"], "i < n");
    assert_eq!(condition["operands"][0]["values"], serde_json::json!(["0", "0", "0", "0"]));
    assert_eq!(condition["operands"][1]["values"], serde_json::json!(["10", "10", "10", "10"]));
    assert_eq!(offsets(&condition["depends_on"]), [1], "{driven}");

    let concrete = of("k")["rounds"]["loops"][0].clone();
    assert!(is_at(&concrete, "concrete"), "{concrete}");
    let condition = &concrete["conditions"][0];
    assert_eq!(condition["goes_on_while"], "k != limit");
    assert!(offsets(&condition["depends_on"]).is_empty(), "{concrete}");

    let cyclic = of("c7")["rounds"]["loops"][0].clone();
    assert!(is_at(&cyclic, "cyclic"), "{cyclic}");
    let conditions = list(&cyclic["conditions"]);
    let texts: Vec<&str> =
        conditions.iter().filter_map(|condition| condition["goes_on_while"].as_str()).collect();
    assert_eq!(texts, ["p != 0", "p->value != value"]);
    assert_eq!(offsets(&conditions[1]["depends_on"]), [1], "{cyclic}");
}

#[test]
fn of_nested_loops_the_innermost_that_keeps_going_comes_first() {
    let dir = prepared(&["n1", "i0", "e"]);
    let of = replayed(dir.path());
    let nested = of("n1")["rounds"]["loops"].clone();
    assert!(list(&nested).len() == 1 && is_at(&nested[0], "outer"), "{nested}");
    assert_eq!(offsets(&nested[0]["conditions"][0]["depends_on"]), [1], "{nested}");
    let inner = of("i0")["rounds"]["loops"].clone();
    assert!(is_at(&inner[0], "inner") && is_at(&inner[1], "around"), "{inner}");
    assert_eq!(inner[1]["rounds"], 1, "{inner}");
    let closed = of("e")["rounds"]["loops"].clone();
    assert!(is_at(&closed[0], "closed") && list(&closed[0]["conditions"]).is_empty(), "{closed}");
}

#[test]
fn a_loop_that_ends_is_none() {
    let dir = prepared(&["s"]);
    let slow = replayed(dir.path())("s");
    assert_eq!((&slow["outcome"], &slow["rounds"]), (&Value::from("exit 0"), &Value::Null));
}

#[test]
fn campaigns_and_triage_tell_it_too() {
    let dir = prepared(&["d0"]);
    let words = "fuzz --seeds inputs --max-runs 1 --strategy random --timeout 1s --lcov off --out \
                 out -- ./program";
    let shown = tarragon(dir.path(), &words.split_whitespace().collect::<Vec<_>>());
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("while i < n (i is 0, n is 10)"), "{shown}");
    let stats = fs::read(dir.path().join("out/stats.json")).expect("statistics");
    let stats: Value = serde_json::from_slice(&stats).expect("JSON");
    let hang = &stats["hangs"][0];
    assert!(is_at(&hang["rounds"]["loops"][0], "driven"), "{hang}");
    let file = Path::new(hang["file"].as_str().expect("a file")).file_name().expect("a name");
    let report = dir.path().join("out/reports").join(format!("{}.txt", file.to_string_lossy()));
    let report = fs::read_to_string(report).expect("a report");
    assert!(report.contains("i stays 0 in the last rounds"), "{report}");
    assert!(report.contains("depends on input bytes 1 ('0')"), "{report}");
    let triage = tarragon(dir.path(), &["triage", "--timeout", "1s", "out", "--", "./program"]);
    let triage = String::from_utf8_lossy(&triage.stdout).into_owned();
    assert!(triage.contains("while i < n (i is 0, n is 10)"), "{triage}");
}
