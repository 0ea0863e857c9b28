//! Runs that do not end because their threads wait for each other are bugs; those that wait for
//! something else are not. Each test builds its own program, which decides by its input.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *second(void *unused)
{
    pthread_mutex_lock(&other);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&one); /* second waits */
    return unused;
}

static void cross(void)
{
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, second, NULL);
    pthread_mutex_lock(&one);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&other); /* cross waits */
    pthread_join(thread, NULL);
}

static void lock_twice(void)
{
    pthread_mutex_lock(&one);
    pthread_mutex_lock(&one); /* lock_twice waits */
}

static void wait_for_child(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) == 0 && fork() == 0)
        _exit(read(ends[0], &byte, 1) == 1); /* child waits */
    wait(NULL); /* wait_for_child waits */
}

static void sleep_beside_a_waiting_thread(void)
{
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 1);
    pthread_mutex_lock(&one);
    pthread_create(&thread, NULL, second, NULL);
    sleep(1000);
}

int main(void)
{
    switch (getchar()) {
    case 'c': cross(); break;
    case 't': lock_twice(); break;
    case 'f': wait_for_child(); break;
    case 's': sleep(1000); break;
    case 'p': pause(); break;
    case 'b': sleep_beside_a_waiting_thread(); break;
    }
    return 0;
}
"#;

fn tarragon(dir: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.current_dir(dir).env("TARRAGON_CACHE", dir.join("cache")).args(words);
    command.output().expect("tarragon starts")
}

/// A folder with the program and an input for each of these bytes.
fn prepared(inputs: &str) -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("program.c"), PROGRAM).expect("written");
    let built = tarragon(dir.path(), &["cc", "-g", "-pthread", "program.c", "-o", "program"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    fs::create_dir(dir.path().join("inputs")).expect("a folder");
    for byte in inputs.chars() {
        let file = dir.path().join("inputs").join(byte.to_string());
        fs::write(file, byte.to_string()).expect("written");
    }
    dir
}

/// `program.c:31:5 (cross)` for the line with the comment "cross waits".
fn place(function: &str, comment: &str) -> String {
    let line = PROGRAM.lines().position(|line| line.contains(&format!("/* {comment} waits */")));
    format!("program.c:{}:", line.expect("it is there") + 1) + "|" + function
}

fn is_at(shown: &str, expected: &str) -> bool {
    let (line, function) = expected.split_once('|').expect("two parts");
    shown.starts_with(line) && shown.ends_with(&format!(" ({function})"))
}

fn assert_places(shown: &Value, expected: &[String]) {
    let shown: Vec<&str> =
        shown.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(shown.len(), expected.len(), "{shown:?}");
    for place in expected {
        assert!(shown.iter().any(|shown| is_at(shown, place)), "{place} of {shown:?}");
    }
}

#[test]
fn deadlocks_are_bugs_and_say_where_each_thread_waits() {
    let dir = prepared("ctf");
    let words = "fuzz --seeds inputs --max-runs 3 --strategy random --timeout 2s --quiet --lcov off --out out -- \
                 ./program";
    let fuzz = tarragon(dir.path(), &words.split_whitespace().collect::<Vec<_>>());
    assert_eq!(fuzz.status.code(), Some(1), "{}", String::from_utf8_lossy(&fuzz.stderr));
    let stats = fs::read(dir.path().join("out/stats.json")).expect("statistics");
    let stats: Value = serde_json::from_slice(&stats).expect("JSON");
    assert_eq!(stats["hangs"].as_array().map(Vec::len), Some(0), "{stats}");
    let bugs = stats["bugs"].as_array().expect("bugs");
    let stack_of = |input: &str| {
        let bug = bugs.iter().find(|bug| {
            let file = dir.path().join("out").join(bug["file"].as_str().expect("a file"));
            fs::read_to_string(file).expect("an input") == input
        });
        let bug = bug.unwrap_or_else(|| panic!("no bug with the input {input}: {stats}"));
        assert_eq!(bug["kind"], "deadlock");
        assert!(bug["file"].as_str().expect("a file").starts_with("crashes/"), "{bug}");
        bug["stack"].clone()
    };
    assert_places(&stack_of("c"), &[place("cross", "cross"), place("second", "second")]);
    assert_places(&stack_of("t"), &[place("lock_twice", "lock_twice")]);
    let child = [place("wait_for_child", "child"), place("wait_for_child", "wait_for_child")];
    assert_places(&stack_of("f"), &child);
    let shown = tarragon(dir.path(), &["triage", "--timeout", "2s", "out", "--", "./program"]);
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(text.contains("3 inputs: 3 bugs and 0 hangs show"), "{text}");
    assert!(!text.contains("other "), "each is the one that was recorded: {text}");
}

#[test]
fn who_waits_for_something_else_is_in_no_deadlock() {
    let dir = prepared("spb");
    let words = ["replay", "--timeout", "2s", "inputs", "--", "./program"];
    let shown = tarragon(dir.path(), &words);
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(text.contains("3 inputs, 0 of them show bugs, 3 do not end"), "{text}");
    assert!(!text.contains("deadlock"), "{text}");
    assert_eq!(shown.status.code(), Some(0), "{text}");
}

#[test]
fn without_the_sanitizer_a_deadlock_is_one_all_the_same() {
    let dir = prepared("t");
    let words = ["replay", "--timeout", "2s", "--sanitizer", "off", "inputs", "--", "./program"];
    let shown = tarragon(dir.path(), &words);
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(text.contains("1 inputs, 1 of them show bugs") && text.contains("deadlock"), "{text}");
    assert_eq!(shown.status.code(), Some(1), "{text}");
}
