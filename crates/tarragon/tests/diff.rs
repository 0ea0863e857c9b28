//! Two programs checked against each other: `tarragon diff`.

mod common;

use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

/// Accepts four commands. `B` differs in three of them: a keyword's answer, a length that is off by
/// one, and a crash.
const COMMANDS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef B
#define MOST 8
#define TOTAL 2
#else
#define MOST 7
#define TOTAL 1
#endif
int main(void) {
  char line[64];
  size_t n = fread(line, 1, sizeof line - 1, stdin);
  line[n] = 0;
  if (strncmp(line, "len ", 4) == 0) {
    if (strlen(line + 4) > MOST) {
      fputs("\nthis is too long\n", stderr);
      return 1;
    }
    puts("short");
  } else if (strcmp(line, "total") == 0) {
    printf("%d\n", TOTAL);
  } else if (strcmp(line, "stop") == 0) {
#ifdef B
    abort();
#endif
    puts("stopped");
  } else {
    return 1;
  }
  return 0;
}
"#;

/// Prints an address and the time.
const UNSTABLE: &str = r#"
#include <stdio.h>
#include <time.h>
int main(void) {
  struct timespec now;
  int c = getchar();
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%d %ld %p\n", c == 'x', now.tv_nsec, (void *)&now);
  return 0;
}
"#;

fn build(dir: &Path, source: &str, name: &str, flags: &[&str]) {
    let file = dir.join(format!("{name}.c"));
    std::fs::write(&file, source).expect("written");
    let mut cc = common::tarragon(dir);
    let status = cc.args(["cc", "-g", "-o", name]).args(flags).arg(&file).status();
    assert!(status.expect("starts").success());
}

fn diff(dir: &Path, options: &[&str], a: &str, b: &str) -> Output {
    let mut command = common::tarragon(dir);
    let words = ["diff", "--quiet", "--out", "out", "--max-runs", "150"];
    command.args(words).args(options).args(["--", a, "--", b]).output().expect("starts")
}

fn statistics(dir: &Path) -> Value {
    let stats = std::fs::read(dir.join("out/stats.json")).expect("statistics");
    serde_json::from_slice(&stats).expect("JSON")
}

/// Class and smallest input of each group.
fn found(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let stats = statistics(dir);
    let list = stats["differences"].as_array().expect("a list");
    let of = |row: &Value| {
        let folder = dir.join("out").join(row["folder"].as_str().expect("a folder"));
        let input = std::fs::read(folder.join("input")).expect("an input");
        (row["class"].as_str().unwrap_or_default().to_owned(), input)
    };
    let mut found: Vec<_> = list.iter().map(of).collect();
    found.sort();
    found
}

fn expect_three(found: &[(String, Vec<u8>)]) {
    let of = |wanted: &str| {
        let inputs = found.iter().filter(|(class, _)| class == wanted);
        inputs.map(|(_, input)| input.as_slice()).collect::<Vec<_>>()
    };
    assert_eq!(of("b-crashes"), [b"stop"], "{found:?}");
    assert_eq!(of("both-accept"), [b"total"], "{found:?}");
    let [rejected] = of("a-rejects")[..] else { panic!("one length: {found:?}") };
    let text = rejected.strip_prefix(b"len ").expect("a length");
    let length = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    assert_eq!(length, 8, "{found:?}");
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn differences_behind_conditions_are_found() {
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), COMMANDS, "a", &[]);
    build(dir.path(), COMMANDS, "b", &["-DB"]);
    let output = diff(dir.path(), &[], "./a", "./b");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    expect_three(&found(dir.path()));
    let folder = dir.path().join("out/differences");
    let report = |name: &str| {
        let all = std::fs::read_dir(&folder).expect("folders").filter_map(Result::ok);
        let mut all = all.filter(|entry| entry.file_name().to_string_lossy().ends_with(name));
        let report = all.next().expect("a folder").path().join("report.txt");
        std::fs::read_to_string(report).expect("a report")
    };
    assert!(report("a-rejects").contains("A rejects, B accepts: this is too long\n"));
    assert!(report("both-accept").contains("stdout, line 1: A has `1`, B has `2`"));
    assert!(report("b-crashes").contains("B       SIGABRT at"), "{}", report("b-crashes"));
    assert!(report("both-accept").contains("again   ./a <out/differences/"));
}

#[test]
fn a_reference_needs_no_bitcode() {
    for built_with_tarragon in ["a", "b"] {
        let dir = TempDir::new().expect("temporary directory");
        build(dir.path(), COMMANDS, "a", &[]);
        build(dir.path(), COMMANDS, "b", &["-DB"]);
        let reference = if built_with_tarragon == "a" { "b" } else { "a" };
        // What a strip of debug information and other sections leaves.
        let mut strip = std::process::Command::new("objcopy");
        let sections = ["--remove-section=.tarragon.bc", "--remove-section=.tarragon.link"];
        let status = strip.args(sections).arg(dir.path().join(reference)).status();
        assert!(status.expect("objcopy starts").success());
        let output = diff(dir.path(), &[], "./a", "./b");
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        expect_three(&found(dir.path()));
        let stats = statistics(dir.path());
        let silent = usize::from(built_with_tarragon == "a");
        assert_eq!(stats["counts"]["generated"][silent], 0);
        assert!(stats["notes"].to_string().contains("was not built with Tarragon"), "{stats}");
    }
}

#[test]
fn equal_programs_do_not_differ() {
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), COMMANDS, "a", &[]);
    let mut command = common::tarragon(dir.path());
    let words = ["diff", "--json", "--out", "out", "--max-runs", "100", "--", "./a", "--", "./a"];
    let output = command.args(words).output().expect("starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let events: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let last = events.last().expect("an event");
    assert_eq!(last["event"], "end");
    assert!(last["counts"]["compared"].as_u64() > Some(5), "{last}");
    assert!(events.iter().any(|event| event["event"] == "input"));
}

/// Both reject what is no sentence, so that a search without a grammar has little to compare.
#[test]
fn sentences_of_a_grammar_are_compared() {
    const NESTED: &str = r#"
    #include <stdio.h>
    int main(void) {
      char line[64] = {0};
      int depth = 0, most = 0;
      const char *at = line;
      fread(line, 1, sizeof line - 1, stdin);
      while (*at == '[') { at++; depth++; }
      most = depth;
      if (*at != 'x' && *at != 'y') return 1;
      for (at++; *at == ']'; at++) depth--;
      if (depth != 0 || *at) return 1;
      printf("%d\n", most > MOST ? MOST : most);
      return 0;
    }"#;
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), NESTED, "a", &["-DMOST=2"]);
    build(dir.path(), NESTED, "b", &["-DMOST=50"]);
    let grammar = "start list ;\nlist = \"[\" list \"]\" | \"x\" | \"y\" ;\n";
    std::fs::write(dir.path().join("list.tg"), grammar).expect("written");
    let options = ["--grammar", "list.tg", "--strategy", "grammar-enumerate"];
    let output = diff(dir.path(), &options, "./a", "./b");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let found = found(dir.path());
    let [(class, input)] = &found[..] else { panic!("one origin: {found:?}") };
    assert_eq!(class, "both-accept");
    assert!(["[[[x]]]", "[[[y]]]"].map(str::as_bytes).contains(&&**input), "{found:?}");
    let inputs = std::fs::read_dir(dir.path().join("out/inputs")).expect("a folder");
    for input in inputs.filter_map(Result::ok) {
        let text = std::fs::read(input.path()).expect("an input");
        assert!(text.iter().all(|byte| b"[]xy".contains(byte)), "{text:?}");
    }
}

#[test]
fn output_that_changes_by_itself_is_no_difference() {
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), UNSTABLE, "a", &[]);
    let output = diff(dir.path(), &[], "./a", "./a");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let stats = statistics(dir.path());
    assert!(stats["counts"]["unstable"].as_u64() > Some(0), "{stats}");
    assert_eq!(stats["counts"]["different"], 0, "{stats}");
}

#[test]
fn names_that_tarragon_makes_up_are_no_difference() {
    const NAMES: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <unistd.h>
    int main(int argc, char **argv) {
      char here[4096];
      FILE *input = fopen(argv[1], "r");
      int c = fgetc(input);
      printf("%s in %s, %s %s\n", argv[1], getcwd(here, sizeof here), getenv("HOME"), TEXT);
      return c == 'x';
    }"#;
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), NAMES, "a", &["-DTEXT=\"\""]);
    build(dir.path(), NAMES, "b", &["-DTEXT=\"\""]);
    build(dir.path(), NAMES, "c", &["-DTEXT=\"!\""]);
    let run = |b: &str| {
        let _ = std::fs::remove_dir_all(dir.path().join("out"));
        let mut command = common::tarragon(dir.path());
        let words =
            ["diff", "--quiet", "--out", "out", "--max-runs", "20", "--", "./a", "@@", "--"];
        command.args(words).args([b, "@@"]).output().expect("starts").status.code()
    };
    assert_eq!(run("./b"), Some(0));
    assert_eq!(run("./c"), Some(1));
    let shown = dir.path().join("out/differences/001-both-accept/b.stdout");
    assert_eq!(std::fs::read_to_string(shown).expect("an output"), "@@ in ~, ~ !\n");
}

#[test]
fn files_and_messages_are_compared_on_request() {
    const WRITES: &str = r#"
    #include <stdio.h>
    int main(void) {
      if (getchar() != 'w') return 0;
      fputs(TEXT, stderr);
      FILE *file = fopen("log", "w");
      fputs(TEXT, file);
      return fclose(file);
    }"#;
    let dir = TempDir::new().expect("temporary directory");
    build(dir.path(), WRITES, "a", &["-DTEXT=\"one 1.0\""]);
    build(dir.path(), WRITES, "b", &["-DTEXT=\"one 1.0000001\""]);
    let code = |options: &[&str]| {
        let _ = std::fs::remove_dir_all(dir.path().join("out"));
        diff(dir.path(), options, "./a", "./b").status.code()
    };
    assert_eq!(code(&[]), Some(1));
    assert!(dir.path().join("out/differences/001-both-accept/a.file.log").is_file());
    assert_eq!(code(&["--ignore", "files"]), Some(0));
    assert_eq!(code(&["--ignore", "files", "--compare", "stderr"]), Some(1));
    assert_eq!(code(&["--compare", "stderr", "--tolerance", "1e-6"]), Some(0));
    assert_eq!(code(&["--normalise", r"1\.0+1?=ONE"]), Some(0));
}

#[test]
fn mistakes_are_explained() {
    let dir = TempDir::new().expect("temporary directory");
    let fails = |words: &[&str], message: &str| {
        let mut command = common::tarragon(dir.path());
        let output = command.arg("diff").args(words).output().expect("starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(stderr.contains(message), "{words:?}: {stderr}");
    };
    fails(&["--", "/bin/true"], "two programs are needed");
    let several = "tarragon diff takes inputs from one source";
    fails(&["--", "/bin/true", "@@1", "@@2", "--", "/bin/true", "@@1"], several);
    fails(&["--source", "stdin", "--", "/bin/true", "@@", "--", "/bin/true", "@@"], several);
    fails(&["--seeds", "stdin=seeds", "--", "/bin/true", "--", "/bin/true"], several);
    fails(&["--", "/bin/true", "--"], "a program is missing");
    fails(&["--", "/bin/true", "--", "/bin/false"], "neither program was built with Tarragon");
    fails(&["--", "./nothing", "--", "/bin/false"], "there is no such program");
    fails(&["--normalise", "abc", "--", "x", "--", "y"], "write REGEX=REPLACEMENT");
    fails(&["--tolerance", "lots", "--", "x", "--", "y"], "write a tolerance as 1e-6");
    fails(
        &["--ignore", "exit", "--compare", "exit", "--", "x", "--", "y"],
        "--compare and --ignore both name exit",
    );
    std::fs::create_dir(dir.path().join("tarragon-diff")).expect("made");
    std::fs::write(dir.path().join("tarragon-diff/file"), "").expect("written");
    fails(&["--", "x", "--", "y"], "is not empty; give another directory with --out");
}
