//! The bugs that the papers tell of, in the programs of `examples/papers`: each is found without a
//! grammar or a seed.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// The kinds of the bugs that a campaign finds, each with the function that it is in.
fn bugs_of(name: &str, runs: u32) -> Vec<String> {
    let dir = TempDir::new().expect("temporary directory");
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/papers")
        .join(format!("{name}.c"));
    let tarragon = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
        command.current_dir(dir.path()).env("TARRAGON_CACHE", dir.path().join("cache"));
        command
    };
    let built = tarragon().args(["cc", "-g", "-o", "program"]).arg(source).status();
    assert!(built.expect("starts").success());
    let runs = runs.to_string();
    let words = ["fuzz", "--quiet", "--lcov", "off", "--hangs", "bugs", "--max-runs", &runs];
    let fuzzed =
        tarragon().args(words).args(["--out", "out", "--", "./program"]).status().expect("starts");
    assert_eq!(fuzzed.code(), Some(1), "bugs were found");
    let stats = std::fs::read(dir.path().join("out/stats.json")).expect("statistics");
    let stats: Value = serde_json::from_slice(&stats).expect("JSON");
    let mut bugs: Vec<String> =
        stats["bugs"].as_array().expect("a list").iter().map(kind_and_function).collect();
    bugs.sort();
    bugs.dedup();
    bugs
}

fn kind_and_function(bug: &Value) -> String {
    let place = bug["stack"][0].as_str().or(bug["place"].as_str()).unwrap_or_default();
    let function = place.rsplit('(').next().unwrap_or_default().trim_end_matches(')');
    format!("{} in {function}", bug["kind"].as_str().unwrap_or_default())
}

#[test]
fn utf7_conversion_needs_more_than_twice_the_room() {
    assert_eq!(bugs_of("utf7", 40), ["heap-buffer-overflow in utf8_to_utf7"]);
}

#[test]
fn requests_overflow_crash_and_hang() {
    assert_eq!(
        bugs_of("request", 300),
        [
            "SIGSEGV (SEGV) in main",
            "heap-buffer-overflow in action_of",
            "long or endless loop in strip_leading"
        ]
    );
}

#[test]
fn joined_paths_may_be_one_byte_too_long() {
    // Whether it crashes without a sanitizer, too, depends on which of the inputs is found first.
    let bugs = bugs_of("join", 1000);
    assert!(
        matches!(&bugs[..], [bug] if bug.contains("stack-buffer-overflow") && bug.ends_with(" in \
            join")),
        "{bugs:?}"
    );
}
