//! Coverage of source lines: the same numbers from a campaign and from a replay, and the same lines
//! as clang's own gcov.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Code of a header, of a macro, before `main`, in loops, in a switch, in conditions, and some that
/// never runs.
const HEADER: &str = r#"
static int twice(int x)
{
    if (x > 100)
        return x;
    return 2 * x;
}
#define CLAMP(x) \
    if ((x) < 0) \
        (x) = 0;
"#;

const PROGRAM: &str = r#"
#include <stdio.h>
#include "helper.h"

static int early;

__attribute__((constructor)) static void before_main(void)
{
    early = 3;
}

static int never(int x)
{
    return x + 1;
}

static int kind(int c)
{
    switch (c) {
    case 'a':
        return 1;
    case 'b':
        return 2;
    case 'z':
        return never(c);
    default:
        return 0;
    }
}

int main(void)
{
    int c, sum = early;
    while ((c = getchar()) != EOF) {
        if (c == 'q' && sum > 5)
            sum = twice(sum);
        else
            sum += kind(c);
        sum -= c == 'm' ? 7 : 0;
        CLAMP(sum)
    }
    for (int i = 0; i < sum; i++)
        putchar('x');
#line 1000 "generated.y"
    if (sum == 4)
        puts("four");
    return 0;
}
"#;

const INPUTS: [&str; 3] = ["", "abq", "m"];

/// Lines that only one of the two attributes code to: the front end joins jumps when it is asked to
/// optimise.
const JUMPS: [&str; 3] = ["}", "break;", "else"];

fn tarragon(dir: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.current_dir(dir).env("TARRAGON_CACHE", dir.join("cache")).args(words);
    command.output().expect("tarragon starts")
}

/// A folder with the sources, the program, and the inputs.
fn built() -> TempDir {
    let dir = TempDir::new().expect("temporary directory");
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("written");
    write("helper.h", HEADER);
    write("program.c", PROGRAM);
    fs::create_dir(dir.path().join("inputs")).expect("made");
    for (number, input) in INPUTS.iter().enumerate() {
        write(&format!("inputs/{number}"), input);
    }
    assert!(tarragon(dir.path(), &["cc", "program.c", "-o", "program"]).status.success());
    dir
}

/// The hits of each line, by the file's name.
type Lines = BTreeMap<(String, u32), u64>;

fn lines_of_lcov(text: &str) -> Lines {
    let (mut lines, mut file) = (Lines::new(), String::new());
    for record in text.lines() {
        if let Some(path) = record.strip_prefix("SF:") {
            assert!(Path::new(path).is_absolute(), "{path}");
            file = file_name(path);
        }
        if let Some((line, hits)) = record.strip_prefix("DA:").and_then(|data| data.split_once(','))
        {
            lines.insert(
                (file.clone(), line.parse().expect("a line")),
                hits.parse().expect("a count"),
            );
        }
    }
    lines
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// What clang's own instrumentation says. Tarragon needs clang, and its tools come with it.
fn lines_of_gcov(dir: &Path) -> Lines {
    let run = |program: &str, words: &[&str]| {
        let output =
            Command::new(program).current_dir(dir).args(words).output().expect("clang's tools");
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let words = ["-O0", "-g", "--coverage", "program.c", "-o", "counted"];
    run("clang-22", &words);
    for input in 0..INPUTS.len() {
        let file = fs::File::open(dir.join(format!("inputs/{input}"))).expect("an input");
        Command::new(dir.join("counted")).current_dir(dir).stdin(file).output().expect("runs");
    }
    run("llvm-cov-22", &["gcov", "counted-program.gcno"]);
    let mut lines = Lines::new();
    for entry in fs::read_dir(dir).expect("readable").flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "gcov") {
            read_gcov(&fs::read_to_string(entry.path()).expect("text"), &mut lines);
        }
    }
    lines
}

/// Lines of the form `count:line:source`, where a count of `#####` is none and `-` is no code.
fn read_gcov(text: &str, lines: &mut Lines) {
    let mut file = String::new();
    for record in text.lines() {
        let mut parts = record.splitn(3, ':').map(str::trim);
        let (Some(count), Some(line), Some(rest)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        match (line, count) {
            ("0", _) => {
                if let Some(path) = rest.strip_prefix("Source:") {
                    file = file_name(path);
                }
            }
            (_, "-") => {}
            _ => {
                let count = count.trim_end_matches('*').parse().unwrap_or(0);
                lines.insert((file.clone(), line.parse().expect("a line")), count);
            }
        }
    }
}

#[test]
fn lines_are_those_of_gcov() {
    let dir = built();
    let replayed =
        tarragon(dir.path(), &["replay", "inputs", "--lcov", "ours.info", "--", "./program"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", String::from_utf8_lossy(&replayed.stderr));
    let ours = lines_of_lcov(&fs::read_to_string(dir.path().join("ours.info")).expect("written"));
    let theirs = lines_of_gcov(dir.path());
    let sources: BTreeMap<&str, &str> =
        BTreeMap::from([("helper.h", HEADER), ("program.c", PROGRAM)]);
    let is_jump = |file: &str, line: u32| {
        let text = sources.get(file).and_then(|text| text.lines().nth(line as usize - 1));
        text.is_some_and(|text| JUMPS.contains(&text.trim()))
    };
    let hit = |lines: &Lines, file: &str| -> Vec<u32> {
        let hit = lines.iter().filter(|((in_file, line), hits)| {
            in_file == file && **hits > 0 && !is_jump(file, *line)
        });
        hit.map(|((_, line), _)| *line).collect()
    };
    let all = |lines: &Lines, file: &str| -> Vec<u32> {
        let all = lines.keys().filter(|(in_file, line)| in_file == file && !is_jump(file, *line));
        all.map(|(_, line)| *line).collect()
    };
    for file in sources.keys() {
        assert_eq!(all(&ours, file), all(&theirs, file), "lines of {file}");
        assert_eq!(hit(&ours, file), hit(&theirs, file), "lines of {file} that ran");
        assert!(!hit(&ours, file).is_empty());
    }
}

#[test]
fn counts_are_inputs_and_what_ran_before_main_belongs_to_all() {
    let dir = built();
    tarragon(dir.path(), &["replay", "inputs", "--lcov", "ours.info", "--", "./program"]);
    let text = fs::read_to_string(dir.path().join("ours.info")).expect("written");
    for record in
        ["FNDA:3,before_main", "FNDA:3,main", "FNDA:1,twice", "FNDA:0,never", "FNDA:2,kind"]
    {
        assert!(text.contains(&format!("\n{record}\n")), "{record} in {text}");
    }
    let lines = lines_of_lcov(&text);
    let at = |file: &str, line| lines.get(&(file.to_owned(), line)).copied();
    // What `#line` says is another file. The branch of a line that never ran has no number.
    assert_eq!(at("generated.y", 1000), Some(3));
    assert_eq!(at("helper.h", 5), Some(0), "return x");
    assert!(text.contains("\nBRDA:1000,0,0,0\nBRDA:1000,0,1,3\n"), "{text}");
}

#[test]
fn a_campaign_and_a_replay_give_the_same_file() {
    let dir = built();
    let fuzz = ["fuzz", "--quiet", "--max-runs", "60", "--out", "out"];
    tarragon(dir.path(), &[&fuzz[..], &["--", "./program"]].concat());
    let campaign = || fs::read_to_string(dir.path().join("out/lcov.info")).expect("written");
    let replay = || {
        tarragon(dir.path(), &["replay", "out", "--lcov", "again.info", "--", "./program"]);
        fs::read_to_string(dir.path().join("again.info")).expect("written")
    };
    assert!(lines_of_lcov(&campaign()).values().any(|hits| *hits > 1), "{}", campaign());
    assert_eq!(campaign(), replay());
    tarragon(dir.path(), &[&fuzz[..], &["--resume", "--", "./program"]].concat());
    assert_eq!(campaign(), replay());
}

/// A traced variant carries no bitcode from which a covered one could be derived.
#[test]
fn without_a_covered_variant_there_is_a_note() {
    let dir = built();
    tarragon(dir.path(), &["variant", "traced", "program", "-o", "traced"]);
    let words = [
        "fuzz",
        "--quiet",
        "--sanitizer",
        "off",
        "--max-runs",
        "20",
        "--out",
        "out",
        "--",
        "./traced",
    ];
    assert_eq!(tarragon(dir.path(), &words).status.code(), Some(0));
    let stats = fs::read(dir.path().join("out/stats.json")).expect("statistics");
    let stats: Value = serde_json::from_slice(&stats).expect("JSON");
    assert!(
        stats["notes"][0].as_str().is_some_and(|note| note.starts_with("no new lcov.info: ")),
        "{}",
        stats["notes"]
    );
    assert!(stats["source_coverage"].is_null());
}
