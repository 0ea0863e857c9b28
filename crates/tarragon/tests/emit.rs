//! Suites as tests: they pass as they are written, and fail when the program does something else.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Divides, and does what `-DOTHER` says differently.
const DIVIDE: &str = r#"
#include <stdio.h>

int main(void)
{
    int a = getchar(), b = getchar();
    if (a == EOF || b == EOF)
        return 1;
    if (a < '0' || a > '9' || b < '0' || b > '9')
        return fprintf(stderr, "no digits\n"), 2;
    printf("%d\n", (a - '0') / (b - '0') + OTHER);
    return 0;
}
"#;

/// Shows each word that it has, and what it reads.
const SHOW: &str = r#"
#include <stdio.h>
#include <stdlib.h>

static void show(FILE *file)
{
    for (int c; file && (c = getc(file)) != EOF;)
        printf("%02x", c);
    printf("\n");
}

int main(int count, char **words)
{
    for (int i = 1; i < count; i++)
        printf("%s=%s\n", words[i], getenv("SHOWN") ? getenv("SHOWN") : "");
    if (count > 1)
        show(fopen(words[1], "rb"));
    show(stdin);
    return 0;
}
"#;

fn compile(dir: &Path, source: &str, other: u32, to: &str) {
    fs::write(dir.join("source.c"), source).expect("written");
    let other = format!("-DOTHER={other}");
    let built = common::tarragon(dir).args(["cc", "-g", &other, "source.c", "-o", to]).status();
    assert!(built.expect("starts").success());
}

fn write_inputs(dir: &Path, inputs: &[&[u8]]) {
    fs::create_dir(dir.join("inputs")).expect("made");
    for (number, input) in inputs.iter().enumerate() {
        fs::write(dir.join(format!("inputs/{number}")), input).expect("written");
    }
}

fn emit(dir: &Path, words: &[&str]) -> Output {
    common::tarragon(dir).arg("emit").args(words).output().expect("starts")
}

/// The object that `--json` prints.
fn emitted(dir: &Path, words: &[&str]) -> Value {
    let output = emit(dir, &[&["--json"], words].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Runs the tests as the answer says.
fn run(dir: &Path, answer: &Value, program: &str) -> Output {
    let lines = answer["run"].as_array().expect("a list").iter();
    let script: Vec<&str> = lines.map(|line| line.as_str().expect("a command")).collect();
    let own = Path::new(env!("CARGO_BIN_EXE_tarragon")).parent().expect("a folder").display();
    let path = format!("{own}:{}", std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    let output = shell.args(["-ec", &script.join("\n")]).current_dir(dir);
    let output = output.env("PROGRAM", program).env("PATH", path);
    output.output().expect("sh starts")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_campaign_becomes_tests_that_pass_until_the_program_changes() {
    let dir = TempDir::new().expect("temporary directory");
    let dir = dir.path();
    fs::write(dir.join("seed"), "82").expect("written");
    let options = ["--max-runs", "60", "--lcov", "off", "--seeds", "seed"];
    common::fuzz(dir, DIVIDE, &["-DOTHER=0"], &options, &[]);
    compile(dir, DIVIDE, 1, "changed");
    for framework in ["c", "rust", "shell"] {
        let words = ["out", "--as", framework, "-o", framework, "--", "./program"];
        let answer = emitted(dir, &words);
        assert!(answer["tests"].as_u64().is_some_and(|tests| tests >= 3), "{answer}");
        assert_eq!(answer["known_failures"], 1, "{answer}");
        let file = fs::read_to_string(dir.join(answer["file"].as_str().expect("a file")));
        let file = file.expect("the tests");
        assert!(file.contains("nown failure: SIGFPE") && file.contains("review"), "{file}");
        let passed = run(dir, &answer, "./program");
        assert!(passed.status.success(), "{framework}: {}", text(&passed));
        let failed = run(dir, &answer, "./changed");
        assert!(!failed.status.success(), "{framework}: {}", text(&failed));
    }
}

/// `OTHER` is the change.
const FUNCTIONS: &str = r#"
#include <stdlib.h>
struct list { int value; struct list *next; };
static int level;

int total(const int *a, size_t n, struct list *list)
{
    int total = list ? list->value : 0;
    for (size_t i = 0; a && i < n; i++)
        if (a[i] > 1000)
            total += OTHER;
    if (list && total == 7)
        list->value = 8;
    return total;
}
static void drop(struct list *list) { if (list) free(list); }
void quit(int status) { if (status == 5) exit(5 + (OTHER != 1)); level = OTHER; }
int bad(const int *p) { return p ? 1 : *p; }
typedef struct { int x; char name[4]; } item;
int named(const item *i) { if (i && i->x == 5) return 5; return i ? i->name[1] : 0; }
"#;

/// What `tarragon unit` writes of a source.
fn test_functions(dir: &Path, words: &[&str]) {
    let options = ["unit", "--quiet", "--time", "60s", "--timeout", "10s", "--sanitizer", "off"];
    let found = common::tarragon(dir).args(options).args(words).status().expect("starts");
    assert_eq!(found.code(), Some(1), "a null pointer is a crash");
}

#[test]
fn functions_become_tests_that_pass_until_the_code_changes() {
    let dir = TempDir::new().expect("temporary directory");
    let dir = dir.path();
    fs::write(dir.join("code.c"), FUNCTIONS.replace("OTHER", "1")).expect("written");
    let functions =
        ["total", "drop", "quit", "bad", "named"].map(|name| ["--function", name]).concat();
    let options = ["code.c", "--array-len", "2", "--global", "level"];
    test_functions(dir, &[&options, &functions[..]].concat());
    let answer = emitted(dir, &["tarragon-unit", "--as", "c", "-o", "new/../more/tests"]);
    assert!(answer["tests"].as_u64().is_some_and(|tests| tests >= 8), "{answer}");
    assert_eq!(
        (&answer["known_failures"], &answer["left_out"]),
        (&1.into(), &Value::Array(vec![]))
    );
    let file = fs::read_to_string(dir.join("more/tests/code_test.c")).expect("the tests");
    for part in [
        "struct list *o3 = TG_NEW(o3, 1);",
        "o3[0].value == 8",
        "item *o1 = TG_NEW(o1, 1);",
        "Observed, review",
        "SIGSEGV",
    ] {
        assert!(file.contains(part), "{part}: {file}");
    }
    // Freed memory is not looked at.
    let drop =
        file.split("test_drop_path_2(void)\n").nth(1).and_then(|rest| rest.split("\n}").next());
    assert!(
        drop.is_some_and(|body| body.contains("drop(list)") && !body.contains("TG_CHECK")),
        "{file}"
    );
    let passed = run(dir, &answer, "");
    assert!(passed.status.success(), "{}", text(&passed));
    fs::write(dir.join("code.c"), FUNCTIONS.replace("OTHER", "2")).expect("written");
    let failed = run(dir, &answer, "");
    assert!(!failed.status.success(), "{}", text(&failed));
    for part in ["test_total_path", "result ==", "test_quit_path", "level == 1"] {
        assert!(text(&failed).contains(part), "{part}: {}", text(&failed));
    }
}

#[test]
fn functions_of_objects_are_declared_and_linked() {
    let dir = TempDir::new().expect("temporary directory");
    let dir = dir.path();
    let code = "typedef struct { int x; char text[3]; } item;\n\
                enum way { IN = 2, OUT };\n\
                int first(const item *i, enum way way)\n\
                { if (way == OUT) return i->x + OTHER; return i->text[1]; }\n";
    let build = |other: &str| {
        fs::write(dir.join("code.c"), code).expect("written");
        let built = common::tarragon(dir).args(["cc", "-g", "-c", "code.c", other]).status();
        assert!(built.expect("starts").success());
    };
    build("-DOTHER=1");
    test_functions(dir, &["code.o", "--function", "first"]);
    let answer = emitted(dir, &["tarragon-unit", "--as", "c"]);
    let passed = run(dir, &answer, "");
    assert!(passed.status.success(), "{}", text(&passed));
    build("-DOTHER=3");
    assert!(!run(dir, &answer, "").status.success());
}

/// No test can link a program, so Tarragon links it again with the tests in it.
#[test]
fn functions_of_a_program_are_called_within_it() {
    let dir = TempDir::new().expect("temporary directory");
    let dir = dir.path();
    let code = "static int limit = 7;\n\
                static int above(int n)\n\
                { if (n == limit) __builtin_trap(); if (n > limit) return OTHER; return 0; }\n\
                int main(int argc, char **argv) { return above(argc); }\n";
    let build = |other: &str| {
        fs::write(dir.join("code.c"), code).expect("written");
        let built =
            common::tarragon(dir).args(["cc", "-g", "-o", "code", "code.c", other]).status();
        assert!(built.expect("starts").success());
        fs::remove_file(dir.join("code.c")).expect("removed");
    };
    build("-DOTHER=1");
    test_functions(dir, &["code", "--function", "above", "--global", "limit"]);
    let answer = emitted(dir, &["tarragon-unit", "--as", "c"]);
    assert_eq!((&answer["tests"], &answer["known_failures"]), (&2.into(), &1.into()), "{answer}");
    let passed = run(dir, &answer, "");
    assert!(passed.status.success(), "{}", text(&passed));
    build("-DOTHER=2");
    let failed = run(dir, &answer, "");
    assert!(text(&failed).contains("result == 1"), "{}", text(&failed));
    let output = emit(dir, &["tarragon-unit", "--as", "gtest", "-o", "more"]);
    assert!(text(&output).contains("give --as c, or run tarragon unit on sources"), "{output:?}");
}

#[test]
fn what_objects_keep_to_themselves_is_left_out() {
    let dir = TempDir::new().expect("temporary directory");
    let dir = dir.path();
    let code = "static int hidden(int *p) { return *p; }\nint seen(int *p) { return hidden(p); }\n";
    fs::write(dir.join("code.c"), code).expect("written");
    let own = format!("{code}int main(void) {{ return seen(0); }}\n");
    fs::write(dir.join("own.c"), own).expect("written");
    let built = common::tarragon(dir).args(["cc", "-g", "-c", "code.c", "own.c"]).status();
    assert!(built.expect("starts").success());
    test_functions(dir, &["code.o", "--all"]);
    let answer = emitted(dir, &["tarragon-unit", "--as", "c"]);
    let left_out = answer["left_out"].as_array().expect("a list");
    assert_eq!((left_out.len(), &answer["tests"]), (2, &1.into()), "{answer}");
    let why = left_out[0].as_str().unwrap_or_default();
    assert!(why.contains("it is static") && why.contains("code.c"), "{why}");
    let passed = run(dir, &answer, "");
    assert!(passed.status.success(), "{}", text(&passed));
    test_functions(dir, &["own.o", "--function", "seen", "--out", "own"]);
    let output = emit(dir, &["own", "--as", "c", "-o", "more"]);
    assert!(text(&output).contains("with a main of their own"), "{output:?}");
}

/// Bytes of a union beyond its largest member, and which of the values that are no number.
#[test]
fn all_bits_of_arguments_are_what_they_were() {
    const CODE: &str = r#"
    #include <string.h>
    union part { int i; struct { char c; long l; } s; };
    int odd(const union part *of) {
      unsigned char bytes[16];
      if (!of) return *(volatile int *)0;
      memcpy(bytes, of, 16);
      if (bytes[3] == 'A') return 5;
      return 6;
    }
    int payload(double x) {
      unsigned long bits;
      memcpy(&bits, &x, 8);
      if (x == x) return 0;
      if ((bits & 255) == 5) return 1;
      return 2;
    }
    typedef unsigned num;
    num named(int num) { if (num == 3) return 1; return 2; }
    "#;
    let dir = TempDir::new().expect("temporary directory");
    let dir = dir.path();
    fs::write(dir.join("code.c"), CODE).expect("written");
    test_functions(dir, &["code.c", "--all"]);
    let answer = emitted(dir, &["tarragon-unit", "--as", "c"]);
    assert_eq!((&answer["tests"], &answer["known_failures"]), (&7.into(), &1.into()), "{answer}");
    let passed = run(dir, &answer, "");
    assert!(passed.status.success(), "{}", text(&passed));
    let file = fs::read_to_string(dir.join("tarragon-tests/code_test.c")).unwrap_or_default();
    assert!(file.contains("TG_BYTES(o1, 3, \"A\")"), "{file}");
    assert!(file.contains("from byte 3 /\"A/\"") || file.contains("from byte 3"), "{file}");
}

#[test]
fn suites_of_functions_need_c_and_no_program() {
    let dir = TempDir::new().expect("temporary directory");
    let dir = dir.path();
    fs::create_dir(dir.join("results")).expect("made");
    fs::write(dir.join("results/unit.json"), "{}").expect("written");
    let said = |words: &[&str]| {
        let output = emit(dir, words);
        assert_eq!(output.status.code(), Some(2));
        text(&output)
    };
    assert!(said(&["results", "--as", "rust"]).contains("one of c, gtest, criterion"));
    let program = said(&["results", "--as", "c", "--", "./program"]);
    assert!(program.contains("leave out what stands after --"), "{program}");
    assert!(said(&["results", "--as", "c", "--all"]).contains("are for programs"));
    assert!(said(&["results", "--as", "c"]).contains("run it again"));
    assert!(said(&["elsewhere", "--as", "c"]).contains("Give it after --"));
    assert!(!dir.join("tarragon-tests").exists());
}

#[test]
fn input_gets_to_the_program_as_it_did() {
    let ways: [&[&str]; 4] =
        [&["./show"], &["./show", "@@"], &["./show", "inputs/1", "<@{}>"], &["./show", "x"]];
    for (way, words) in ways.iter().enumerate() {
        let dir = TempDir::new().expect("temporary directory");
        let dir = dir.path();
        compile(dir, SHOW, 0, "show");
        write_inputs(dir, &[b"", b"plain 'text'\n", b"\x01\xff \\ % $HOME `id`\n\n", b"@@"]);
        let variable: &[&str] = if way == 3 { &["--env", "SHOWN=@{}."] } else { &[] };
        let options = ["inputs", "--as", "shell", "--by-output"];
        let answer = emitted(dir, &[&options, variable, &["--"], words].concat());
        let passed = run(dir, &answer, "./show");
        assert!(passed.status.success(), "{words:?}: {}", text(&passed));
        assert_eq!(answer["tests"], 4, "{words:?}: {answer}");
    }
}

#[test]
fn one_test_for_each_behaviour_or_for_each_input() {
    let dir = TempDir::new().expect("temporary directory");
    let dir = dir.path();
    compile(dir, DIVIDE, 0, "divide");
    write_inputs(dir, &[b"4", b"", b"82", b"41", b"zz", b"80", b"00"]);
    let tests = |options: &[&str], out: &str| {
        let words = [&["inputs", "--as", "c", "-o", out], options, &["--", "./divide"]].concat();
        let answer = emitted(dir, &words);
        (answer["tests"].clone(), answer["known_failures"].clone())
    };
    assert_eq!(tests(&["--by-output"], "by-output"), (3.into(), 1.into()));
    assert_eq!(tests(&[], "by-coverage"), (4.into(), 1.into()), "no byte, and one");
    assert_eq!(tests(&["--all"], "all"), (5.into(), 2.into()));
    let refused = emit(dir, &["inputs", "--as", "c", "-o", "all", "--", "./divide"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused).contains("all: is not empty"), "{}", text(&refused));
}

#[test]
fn what_varies_is_named_and_not_asserted() {
    let dir = TempDir::new().expect("temporary directory");
    let dir = dir.path();
    let clock = "#include <stdio.h>\n#include <time.h>\nint main(void)\n{\n    struct timespec now;\n    \
                 clock_gettime(CLOCK_REALTIME, &now);\n    printf(\"%ld\\n\", now.tv_nsec);\n    \
                 fprintf(stderr, \"done\\n\");\n    return 3;\n}\n";
    compile(dir, clock, 0, "clock");
    write_inputs(dir, &[b"1"]);
    let answer =
        emitted(dir, &["inputs", "--as", "shell", "--stderr", "--by-output", "--", "./clock"]);
    assert_eq!((&answer["tests"], &answer["unstable"][0]), (&1.into(), &"inputs/0".into()));
    let file = fs::read_to_string(dir.join("tarragon-tests/clock_test.sh")).expect("the tests");
    assert!(file.contains("varies from run to run: standard output"), "{file}");
    assert!(file.contains("'done\\n'"), "{file}");
    let passed = run(dir, &answer, "./clock");
    assert!(passed.status.success(), "{}", text(&passed));
}

#[test]
fn programs_of_other_compilers_have_tests_too() {
    let dir = TempDir::new().expect("temporary directory");
    let dir = dir.path();
    write_inputs(dir, &[b"2\n1\n", b"b\na\n"]);
    let output = emit(dir, &["inputs", "--as", "shell", "--", "sort"]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("grouped by what was printed alone"), "{}", text(&output));
    let passed = Command::new("sh").arg("tarragon-tests/sort_test.sh").current_dir(dir).output();
    let passed = passed.expect("sh starts");
    assert!(passed.status.success(), "{}", text(&passed));
    assert!(text(&passed).starts_with("1..2\nok 1 - exits_0_on_2_1\n"), "{}", text(&passed));
}
