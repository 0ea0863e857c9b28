//! Tests that are emitted are built and run with their frameworks: they pass, and they fail when
//! the program does something else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use emit::{Allocated, Argument, MadeUpFunction, Patch, Queue, STOPPED, Set, UnitCase, UnitSuite};
use emit::{Case, Expected, Framework, KnownFailure, Markers, Run, Suite, render, render_units};
use needs::Tested;
use tempfile::TempDir;

fn main() {
    let tests = Framework::ALL.map(|framework| {
        needs::test(format!("{}_passes_and_fails", framework.name()), move || check(framework))
    });
    let units = Framework::FOR_FUNCTIONS.map(|framework| {
        let name = format!("{}_calls_functions", framework.name());
        needs::test(name, move || check_units(framework))
    });
    needs::run(tests.into_iter().chain(units).collect());
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

/// `main` and `check` are names that test code might want for itself.
const CODE: &str = r#"
#include <stdlib.h>
struct pair { int first; struct pair *next; };
extern int ask(int what);
extern void stop(void);
static int calls, limit;
static int check(void) { return ++calls; }
static int sum(struct pair *p, const int *a, unsigned long n)
{
    int sum = p->next == p ? p->first : -1;
    for (unsigned long i = 0; i < n; i++)
        sum += a[i];
    p->first = sum;
    return sum;
}
int asks(int (*f)(int)) { return 10 * ask(1) + ask(2) + f(3) + limit; }
void leave(int status) { exit(status); }
void stops(void) { stop(); }
int crash(int *p) { return *p; }
unsigned alarm(unsigned seconds);
/* It forbids its own end. */
void hang(void) { alarm(0); for (volatile int i = 0;; i++) { } }
const char *text(void) { return "a,b"; }
int low(const double *x) { return *(const unsigned char *)x; }
int main(void) { return 0; }
"#;

fn unit_case(name: &str, call: &str, result: Option<&str>, checks: &[&str]) -> UnitCase {
    UnitCase {
        name: format!("test_{name}"),
        remarks: vec!["observed, review */ \\".to_owned()],
        known_failure: None,
        is_survived: false,
        objects: Vec::new(),
        globals: Vec::new(),
        made: Vec::new(),
        arguments: Vec::new(),
        patches: Vec::new(),
        call: call.to_owned(),
        result: result.map(str::to_owned),
        checks: checks.iter().map(|&check| check.to_owned()).collect(),
        returns: true,
        exit: 0,
    }
}

fn unit_cases() -> Vec<UnitCase> {
    let object = |name: &str, pointer: &str, count, c: &str| Allocated {
        name: name.to_owned(),
        pointer: pointer.to_owned(),
        count,
        c: c.to_owned(),
    };
    let argument = |declaration: &str, c: &str| Argument {
        declaration: declaration.to_owned(),
        c: c.to_owned(),
    };
    let queue = |name: &str, values: &[&str]| Queue {
        name: name.to_owned(),
        result: "int".to_owned(),
        values: values.iter().map(|&value| value.to_owned()).collect(),
    };
    let checks = ["TG_CHECK(result == 10)", "TG_CHECK(o1[0].first == 10)"];
    let mut sum = unit_case("sum", "sum(p, a, n)", Some("int result"), &checks);
    sum.objects.push(object("o1", "struct pair *o1", 1, "{ { .first = 3, .next = o1 } }"));
    sum.objects.push(object("o2", "int *o2", 2, "{ 3, 4 }"));
    sum.arguments.push(argument("struct pair *p", "o1"));
    sum.arguments.push(argument("const int *a", "o2"));
    sum.arguments.push(argument("unsigned long n", "2"));
    let mut asks = unit_case("asks", "asks(f)", Some("int result"), &["TG_CHECK(result == 1251)"]);
    asks.globals.push(Set { name: "limit".to_owned(), c: "1200".to_owned() });
    asks.made = vec![queue("ask", &["4", "6"]), queue("tg_callback", &["5"])];
    asks.arguments.push(argument("__typeof__(int (*)(int)) f", "tg_callback"));
    let mut leaves = unit_case("leaves", "leave(3)", None, &[]);
    (leaves.returns, leaves.exit) = (false, 3);
    let mut stops = unit_case("stops", "stops()", None, &[]);
    (stops.returns, stops.exit) = (false, STOPPED);
    let mut crash = unit_case("crash", "crash(0)", Some("int result"), &[]);
    crash.known_failure = Some("SIGSEGV \"in\" crash */ \\".to_owned());
    let mut hang = unit_case("hang", "hang()", None, &[]);
    hang.known_failure = Some("it does not end".to_owned());
    let mut low = unit_case("low", "low(o1)", Some("int result"), &["TG_CHECK(result == 5)"]);
    low.objects.push(object("o1", "double *o1", 1, "{ __builtin_nan(\"\") }"));
    low.patches.push(Patch { to: "o1".to_owned(), at: 0, c: "\"\\005\"".to_owned() });
    let first = ["TG_CHECK(result == 1)"];
    let text = ["TG_SAME_TEXT(result, \"a,b\")", "TG_SAME_POINTER(result + 1, &result[1])"];
    vec![
        sum,
        asks,
        leaves,
        stops,
        crash,
        hang,
        low,
        unit_case("call", "check()", Some("int result"), &first),
        unit_case("call_in_a_new_process", "check()", Some("int result"), &first),
        unit_case("text", "text()", Some("const char *result"), &text),
    ]
}

fn unit_suite() -> UnitSuite {
    let made = |name: &str, prototype: &str, is_callback, returns: bool| MadeUpFunction {
        name: name.to_owned(),
        prototype: prototype.to_owned(),
        result: returns.then(|| "int".to_owned()),
        is_callback,
        returns,
    };
    UnitSuite {
        name: "code".to_owned(),
        program: "code.c".to_owned(),
        directory: "tests".to_owned(),
        origin: "results */ \\".to_owned(),
        sources: vec!["../code.c".to_owned()],
        declarations: String::new(),
        objects: Vec::new(),
        linked: None,
        options: ["-DVALUE=a b", "-std=gnu11"].map(str::to_owned).into(),
        seconds: 1,
        made_up: vec![
            made("ask", "int ask(int what)", false, true),
            made("stop", "void stop(void)", false, false),
            made("tg_callback", "int tg_callback(int p0)", true, true),
        ],
        cases: unit_cases(),
    }
}

fn check_units(framework: Framework) -> Tested {
    required(framework)?;
    let suite = unit_suite();
    let changes = [
        ("sum += a[i]", "sum += 2 * a[i]"),
        ("p->first = sum", "p->first++"),
        ("exit(status)", "exit(status + 1)"),
        ("void leave(int status) { exit(status); }", "void leave(int status) { }"),
        ("ask(2) + f(3)", "f(3)"),
        ("+ limit", ""),
        ("\"a,b\"", "\"a,c\""),
        ("{ return ++calls; }", "{ abort(); }"),
        ("return *(const unsigned char *)x", "return x == 0"),
    ];
    for (old, new) in [("", "")].into_iter().chain(changes) {
        let dir = TempDir::new().expect("a directory");
        assert!(CODE.contains(old), "{old}");
        fs::write(dir.path().join("code.c"), CODE.replacen(old, new, 1)).expect("written");
        fs::create_dir(dir.path().join("tests")).expect("a directory");
        for file in render_units(&suite, framework).expect("the template is right") {
            fs::write(dir.path().join("tests").join(&file.path), file.bytes).expect("written");
        }
        let built_and_run = framework.unit_commands(&suite).join(" && ");
        let ran = shell(dir.path(), &built_and_run, "");
        assert!(dir.path().join("code_test").exists(), "{}", shown(&ran));
        assert_eq!(ran.status.success(), old.is_empty(), "{old}: {}", shown(&ran));
    }
    Ok(())
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
