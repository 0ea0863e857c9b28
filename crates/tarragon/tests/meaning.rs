//! Variants do what the program does, also where C leaves it undefined and the program is not
//! optimised.

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

/// Ends of threads and exceptions unwind the stack, the runtime's part of it, too.
#[test]
fn the_stack_can_be_unwound() {
    for (source, compiler) in
        [("thread_exit.c", "cc"), ("thrown_comparison.cpp", "c++"), ("cancelled_read.cpp", "c++")]
    {
        let dir = TempDir::new().expect("temporary directory");
        let tarragon = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
            command.current_dir(dir.path()).env("TARRAGON_CACHE", dir.path().join("cache"));
            command
        };
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/meaning").join(source);
        run(tarragon().args([compiler, "-w"]).arg(path).args(["-o", "plain"]));
        run(tarragon().args(["variant", "traced", "./plain", "-o", "traced"]));
        for input in ["a", "z"] {
            std::fs::write(dir.path().join("input"), input).expect("written");
            let code = |program: &str| {
                let input = std::fs::File::open(dir.path().join("input")).expect("input");
                let mut command = Command::new(dir.path().join(program));
                command.stdin(input).stderr(Stdio::null()).status().expect("starts").code()
            };
            let (plain, concrete) = (code("plain"), code("traced"));
            assert_eq!(plain, concrete, "{source}, {input}");
            let output = tarragon().args(["trace", "input", "--", "./plain"]).output();
            let labelled = String::from_utf8(output.expect("starts").stdout).expect("text");
            let expected = format!("exit {}:", plain.expect("an exit code"));
            assert!(labelled.starts_with(&expected), "{source}, {input}: {labelled}");
        }
    }
}

fn run(command: &mut Command) {
    assert!(command.stdout(Stdio::null()).status().expect("starts").success(), "{command:?}");
}
