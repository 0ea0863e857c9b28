//! The command from outside: output and exit codes.

use std::process::Command;

/// Runs the command on a file with this text; returns the exit code and the output.
fn solve(text: &str, options: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file.hmp");
    std::fs::write(&file, text).unwrap();
    run(&[options, &[file.to_str().unwrap()]].concat())
}

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_tarragon-solve")).args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn exit_codes_are_those_of_hampi() {
    assert_eq!(
        solve("var v : 1; assert v equals \"a\";", &[]),
        (Some(0), "sat\nv = \"a\"\n".to_string())
    );
    assert_eq!(solve("var v : 2; assert v equals \"a\";", &[]), (Some(1), "unsat\n".to_string()));
    assert_eq!(solve("var v : ;", &[]).0, Some(2));
    assert_eq!(run(&["--no-such-option"]).0, Some(3));
    assert_eq!(run(&[]).0, Some(3));
}

#[test]
fn the_time_limit_is_an_answer() {
    let hard =
        "var v; reg any := or(\"a\", \"b\"); reg r := concat(star(any), \"a\", repeat(any, 60));
        assert v in r; assert v in concat(star(any), \"b\", repeat(any, 60));";
    let (code, output) = solve(hard, &["--timeout", "100ms"]);
    assert_eq!((code, output.lines().next()), (Some(4), Some("unknown")));
}

#[test]
fn all_solutions_and_their_number() {
    let text = "var v : 0 .. 2; assert v in star(\"a\");";
    assert_eq!(solve(text, &["--all"]).1, "v = \"\"\nv = \"a\"\nv = \"aa\"\n");
    assert_eq!(solve(text, &["--all", "--limit", "1"]).1, "v = \"\"\n");
    assert_eq!(solve(text, &["--all", "--limit", "0"]).0, Some(3));
    assert_eq!(solve(text, &["--count"]).1, "sat\n3\n");
    assert!(solve(text, &["--count", "--json"]).1.contains("\"verdict\":\"sat\",\"count\":\"3\""));
}

#[test]
fn listing_a_context_free_language_without_a_size_ends() {
    let nested = "var v; cfg A := \"a\" A \"b\" | \"ab\"; assert v in A;";
    let none = format!("{nested} assert v in concat(star(\"b\"), star(\"a\"));");
    assert_eq!(solve(&none, &["--all"]), (Some(1), "unsat\n".to_string()));
    assert_eq!(solve(&none, &["--count"]), (Some(1), "unsat\n0\n".to_string()));
    let two = format!("{nested} assert v in concat(star(\"a\"), or(\"b\", \"bb\"));");
    assert_eq!(solve(&two, &["--all"]), (Some(0), "v = \"ab\"\nv = \"aabb\"\n".to_string()));
}

#[test]
fn languages_are_compared() {
    assert_eq!(run(&["--contains", "star(\"a\")", "\"aa\""]), (Some(0), "contains\n".to_string()));
    let (code, output) = run(&["--equivalent", "star(\"a\")", "\"aa\""]);
    assert_eq!((code, &output[..]), (Some(1), "not equivalent\n\"\" is only in the first\n"));
    let (code, output) =
        run(&["--intersect", "star(\"ab\")", "concat(\"a\", star(\"ba\"), \"b\")"]);
    assert_eq!((code, &output[..]), (Some(0), "intersect\n\"ab\" is in both\n"));
    assert_eq!(run(&["--intersect", "star(", "\"a\""]).0, Some(2));
}
