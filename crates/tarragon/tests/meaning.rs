//! Variants do what the program does, also where C leaves it undefined and the program is not optimised.

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Where a variant differs from the program: work whose result nobody uses is not done.
const GAPS: [&str; 1] = ["divided_unread"];

#[test]
fn undefined_behaviour_has_the_meaning_of_the_plain_build() {
    let dir = TempDir::new().expect("temporary directory");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/meaning/undefined.c");
    let tarragon = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
        command.current_dir(dir.path()).env("TARRAGON_CACHE", dir.path().join("cache"));
        command
    };
    run(tarragon().args(["cc", "-w", "-O0"]).arg(&source).args(["-o", "plain"]));
    for variant in ["traced", "covered"] {
        run(tarragon().args(["variant", variant, "./plain", "-o", variant]));
    }
    let result = |program: &str, case: &str| {
        std::fs::write(dir.path().join("input"), "a").expect("written");
        let input = std::fs::File::open(dir.path().join("input")).expect("input");
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", "1"]).arg(dir.path().join(program)).arg(case).stdin(input);
        let output = command.stderr(Stdio::null()).output().expect("starts");
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status)
    };
    let cases = result("plain", "").0;
    assert!(cases.lines().count() > 20, "{cases}");
    let mut wrong = Vec::new();
    for case in cases.lines() {
        let plain = result("plain", case);
        let others = ["traced", "covered"].map(|variant| result(variant, case));
        if others.iter().all(|other| *other == plain) == GAPS.contains(&case) {
            wrong.push(format!("{case}: the program {plain:?}, its variants {others:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn run(command: &mut Command) {
    assert!(command.stdout(Stdio::null()).status().expect("starts").success(), "{command:?}");
}
