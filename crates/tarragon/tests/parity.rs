//! The sanitized variant reports what clang's own sanitizers report, kind by kind.
//!
//! A program of `parity/` has a function for each kind and lists their names. Each runs in clang's
//! build with `-fsanitize=address,undefined` and in the variant that is derived from the plain
//! build; the reports must agree in kind, order and place.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use runner::{SANITIZER_OPTIONS, SanitizerReport, Symbolizer, UNDEFINED_OPTIONS};
use tempfile::TempDir;

/// Where the variant and clang's build may differ, and in what.
struct Gap {
    case: &'static str,
    ours: &'static [&'static str],
    clangs: &'static [&'static str],
}

/// More than clang finds in a build that is not optimised: sizes of objects are known in the
/// variant only.
const GAPS: &[Gap] = &[Gap {
    case: "wrong_cast",
    ours: &[
        "insufficient-object-size in wrong_cast:63",
        "insufficient-object-size in wrong_cast:63",
    ],
    clangs: &[],
}];

/// Cases in which nobody reports anything: no mistake, or one that no sanitizer looks for by
/// default.
const QUIET: &[&str] = &[
    "all_well",
    "add_char",
    "float_divide_zero",
    "enum_of_c",
    "assume_false",
    "unsigned_wraps",
    "wrong_type",
    "wrong_cast",
];

#[test]
fn errors_of_memory() {
    check("memory.c");
}

#[test]
fn undefined_behaviour() {
    check("undefined.c");
}

#[test]
fn errors_of_classes() {
    check("classes.cc");
}

fn check(name: &str) {
    let dir = TempDir::new().expect("temporary directory");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parity").join(name);
    let is_c = name.ends_with(".c");
    let flags = ["-w", "-g", "-O0"];
    let clang = dir.path().join("clang");
    let mut command = Command::new(if is_c { "clang-22" } else { "clang++-22" });
    run(command.args(flags).arg("-fsanitize=address,undefined").arg(&source).arg("-o").arg(&clang));
    let plain = dir.path().join("plain");
    let ours = dir.path().join("ours");
    run(tarragon(&dir)
        .arg(if is_c { "cc" } else { "c++" })
        .args(flags)
        .arg(&source)
        .arg("-o")
        .arg(&plain));
    run(tarragon(&dir).args(["variant", "sanitized"]).arg(&plain).arg("-o").arg(&ours));
    let list = Command::new(&plain).output().expect("starts").stdout;
    let cases = String::from_utf8(list).expect("names");
    assert!(cases.lines().count() > 20, "{cases}");
    let mut wrong = Vec::new();
    let mut symbolizer = Symbolizer::default();
    for case in cases.lines() {
        let [clangs, ours] = [&clang, &ours].map(|program| reports(program, case, &mut symbolizer));
        let expected = GAPS.iter().find(|gap| gap.case == case);
        let agree = match expected {
            Some(gap) => clangs == gap.clangs && ours == gap.ours,
            None => clangs == ours && clangs.is_empty() == QUIET.contains(&case),
        };
        if !agree {
            wrong.push(format!("{case}: clang {clangs:?}, ours {ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
}

fn tarragon(dir: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.env("TARRAGON_CACHE", dir.path().join("cache"));
    command
}

fn run(command: &mut Command) {
    assert!(command.stdout(Stdio::null()).status().expect("starts").success(), "{command:?}");
}

/// Kinds of what a program reports about one case, each with the function and line of its innermost
/// frame.
fn reports(program: &PathBuf, case: &str, symbolizer: &mut Symbolizer) -> Vec<String> {
    let input = program.with_file_name("input");
    std::fs::write(&input, "0123456789\n0123456789\n").expect("written");
    let (name, value) = SANITIZER_OPTIONS;
    let output = Command::new(program)
        .arg(case)
        .env(name, format!("{value}:detect_leaks=1"))
        .env(UNDEFINED_OPTIONS.0, UNDEFINED_OPTIONS.1)
        .stdin(std::fs::File::open(&input).expect("input"))
        .output()
        .expect("starts");
    let text = symbolizer.name_places(&output.stderr);
    let describe = |report: &SanitizerReport| match report.frames.first() {
        Some(frame) => {
            let line = frame.place.split(':').nth(1).unwrap_or("?");
            format!("{} in {}:{line}", report.kind, short_name(&frame.function))
        }
        None => report.kind.clone(),
    };
    SanitizerReport::parse(&text).iter().map(describe).collect()
}

/// Without classes and parameters, which the variant's debug information does not tell of every
/// function.
fn short_name(function: &str) -> &str {
    let name = function.split('(').next().unwrap_or(function);
    name.rsplit("::").next().unwrap_or(name)
}
