//! Tests that are emitted are built and run with their frameworks: they pass, and they fail when
//! the program does something else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use emit::{Case, Expected, Framework, KnownFailure, Markers, Run, Suite, render};
use needs::Tested;
use tempfile::TempDir;

fn main() {
    let tests = Framework::ALL.map(|framework| {
        needs::test(format!("{}_passes_and_fails", framework.name()), move || check(framework))
    });
    needs::run(tests.into());
}

/// What its words and its input are, or what its first argument says.
const PROGRAM: &str = r#"#!/bin/sh
hex() { od -An -v -tx1 | tr -d ' \n'; echo; }
mode=$1
shift
case $mode in
hex) for word in "$@" "$VALUE"; do printf '%s' "$word" | hex; done; hex ;;
cat) cat; exit 3 ;;
file) hex <"$1"; echo "$0: read $1 in $PWD" >&2; echo "$1 $(cat)" ;;
here) cat "$1" ;;
crash) kill -SEGV $$ ;;
hang) sleep 100 ;;
esac
"#;

/// Bytes that are special somewhere.
fn nasty() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = [
        "",
        "\n",
        "\n\n a\n\tb\n",
        "-n",
        "-e x",
        "%s%d%%",
        "??/??=",
        "\\u000a",
        "\\",
        "\\\\n",
        "\"",
        "'",
        "$(id) `id` $HOME \"$@\"",
        "*/ // # {{ x }} {% y %}",
        "é€",
        "a\r\nb",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into();
    all.push((0..=255).collect());
    all.push((0..=255).rev().flat_map(|byte| [byte, b'1']).collect());
    all.push(b"long".repeat(1000));
    all
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n"
}

fn case(name: &str, run: Run, exit: Option<i32>, stdout: Option<Vec<u8>>) -> Case {
    let expected = Expected { exit, stdout, stderr: None };
    let remarks = vec!["observed, review */ \\".to_owned()];
    Case { name: name.to_owned(), remarks, known_failure: None, run, expected }
}

/// The bytes are the input, an argument, and the value of a variable.
fn transported(number: usize, bytes: &[u8]) -> Case {
    let word: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    let run = Run {
        arguments: vec![b"hex".to_vec(), word.clone(), b"last".to_vec()],
        environment: vec![("VALUE".to_owned(), word.clone())],
        input: bytes.to_vec(),
        on_stdin: true,
    };
    let printed = [&word[..], b"last", &word, bytes].map(hex).concat();
    case(&format!("transports_{number}"), run, Some(0), Some(printed.into_bytes()))
}

fn printed(number: usize, bytes: &[u8]) -> Case {
    let run = Run { input: bytes.to_vec(), on_stdin: true, ..words(&["cat"]) };
    case(&format!("prints_{number}"), run, Some(3), Some(bytes.to_vec()))
}

fn words(words: &[&str]) -> Run {
    Run { arguments: words.iter().map(|word| word.as_bytes().to_vec()).collect(), ..Run::default() }
}

fn known(reason: &str) -> Option<KnownFailure> {
    Some(KnownFailure { reason: reason.to_owned(), always: true })
}

fn others() -> Vec<Case> {
    let input = Run { input: b"abc".to_vec(), ..words(&["file", "@INPUT@"]) };
    let file = case("reads_a_file", input, Some(0), Some(b"616263\n@INPUT@ \n".to_vec()));
    let mut crash = case("crashes", words(&["crash"]), None, None);
    crash.known_failure = known("SIGSEGV in \"main\" \\ é");
    let mut hang = case("does_not_end", words(&["hang"]), None, None);
    hang.known_failure = known("it does not end");
    let here =
        case("reads_from_here", words(&["here", "@HERE@/beside"]), Some(0), Some("é".into()));
    let mut silent = case("prints_nothing", words(&["other"]), None, None);
    silent.expected.stderr = Some(Vec::new());
    vec![file, crash, hang, here, silent]
}

fn suite() -> Suite {
    let nasty = nasty();
    let transported = nasty.iter().enumerate().map(|(n, bytes)| transported(n, bytes));
    let printed = nasty.iter().enumerate().map(|(n, bytes)| printed(n, bytes));
    Suite {
        name: "tool".to_owned(),
        program: "./tool".to_owned(),
        directory: "tests".to_owned(),
        origin: "tests */ \\".to_owned(),
        seconds: 5,
        environment: vec![("LC_ALL".to_owned(), "C.UTF-8".to_owned())],
        markers: Markers::outside(nasty.iter().map(Vec::as_slice)),
        cases: transported.chain(printed).chain(others()).collect(),
    }
}

fn check(framework: Framework) -> Tested {
    required(framework)?;
    let dir = TempDir::new().expect("a directory");
    write_program(&dir.path().join("tool"), PROGRAM);
    fs::write(dir.path().join("beside"), "é").expect("written");
    for file in render(&suite(), framework).expect("the template is right") {
        let path = dir.path().join("tests").join(&file.path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, file.bytes).expect("written");
    }
    let built = shell(dir.path(), build(framework), "./tool");
    assert!(built.status.success(), "{}", shown(&built));
    let ran = run(dir.path(), framework, "./tool");
    assert!(ran.status.success(), "{}", shown(&ran));
    let changed = PROGRAM.replace("cat) cat; exit 3", "cat) cat; exit 4");
    let other = PROGRAM.replace("mode=$1", "mode=$1; echo more");
    for (number, program) in [changed, other].iter().enumerate() {
        let name = format!("./changed-{number}");
        // It still fails, without the time that it takes.
        let program = program.replace("sleep 100", "kill -KILL $$");
        write_program(&dir.path().join(&name), &program);
        let ran = run(dir.path(), framework, &name);
        assert!(!ran.status.success(), "{name} passes: {}", shown(&ran));
    }
    Ok(())
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("may be run");
}

fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn shell(dir: &Path, command: &str, program: &str) -> Output {
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", command]).current_dir(dir).env("PROGRAM", program).output();
    output.expect("sh starts")
}

const JARS: &str = "/usr/share/java/junit-platform-console-standalone.jar";

fn required(framework: Framework) -> Tested {
    let has = |path: &str| Path::new(path).exists();
    match framework {
        Framework::C | Framework::Rust => Ok(()),
        Framework::Shell => Ok(()),
        Framework::Gtest => needs::package("libgtest-dev", has("/usr/include/gtest/gtest.h")),
        Framework::Criterion => {
            needs::package("libcriterion-dev", has("/usr/include/criterion/criterion.h"))
        }
        Framework::Pytest => needs::program("pytest-3"),
        Framework::Junit => {
            needs::program("javac").and(needs::feature("JUnit 5 below /usr/share/java", has(JARS)))
        }
    }
}

fn build(framework: Framework) -> &'static str {
    match framework {
        Framework::C => "cc -Wall -Werror -trigraphs -o test tests/tool_test.c",
        Framework::Gtest => {
            "c++ -std=c++17 -Wall -Werror -o test tests/tool_test.cc -lgtest -lgtest_main -pthread"
        }
        Framework::Criterion => "cc -Wall -Werror -o test tests/tool_test.c -lcriterion",
        Framework::Rust => "rustc --edition 2021 --test -D warnings -o test tests/tool_test.rs",
        Framework::Junit => "javac -Werror -cp '/usr/share/java/*' -d classes tests/ToolTest.java",
        Framework::Shell | Framework::Pytest => "true",
    }
}

fn run(dir: &Path, framework: Framework, program: &str) -> Output {
    let command = match framework {
        Framework::C | Framework::Gtest | Framework::Criterion | Framework::Rust => "./test",
        Framework::Shell => "sh tests/tool_test.sh",
        Framework::Pytest => "pytest-3 -q -p no:cacheprovider tests/test_tool.py",
        Framework::Junit => {
            "java -cp 'classes:/usr/share/java/*' org.junit.platform.console.ConsoleLauncher \
             --select-class ToolTest"
        }
    };
    shell(dir, command, program)
}
