//! Ctrl-C ends a campaign at any stage, without waiting for what is going on.
//!
//! What goes on here would take far longer than a test waits for: that it ended says enough.

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::tarragon;
use serde_json::Value;
use tempfile::TempDir;

/// Far less than what is going on takes, far more than a loaded machine needs to end.
const PATIENCE: Duration = Duration::from_secs(60);

fn wait_until(what: &str, child: &mut Child, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        let status = child.try_wait().expect("it can be waited for");
        assert!(status.is_none(), "it ended before {what}: {status:?}");
        assert!(start.elapsed() < 10 * PATIENCE, "{what} never was");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Interrupts, and returns the exit code and what was written to standard error.
fn interrupt(mut child: Child) -> (Option<i32>, String) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
    let start = Instant::now();
    while child.try_wait().expect("it can be waited for").is_none() {
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("it goes on");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("it ended");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts")
}

fn build(dir: &Path, name: &str, source: &str) {
    let file = format!("{name}.c");
    std::fs::write(dir.join(&file), source).expect("written");
    let built = tarragon(dir).args(["cc", "-g", &file, "-o", name]).status().expect("starts");
    assert!(built.success());
}

/// A campaign on a program that is told where to leave its mark.
fn fuzz(dir: &Path, options: &[&str]) -> Child {
    let fixed = ["fuzz", "--out", "out", "--sandbox", "off", "--timeout", "1000s"];
    let mark = dir.join("mark");
    start(tarragon(dir).args(fixed).args(options).args(["--", "./program"]).arg(mark))
}

fn stats(dir: &Path) -> Value {
    let stats = std::fs::read(dir.join("out/stats.json")).expect("statistics");
    serde_json::from_slice(&stats).expect("JSON")
}

/// Takes all the time there is, once it has left its mark.
const SLOW: &str = r#"
#include <stdio.h>
#include <unistd.h>
#ifndef WHERE
#define WHERE 1
#endif
int main(int count, char **words)
{
    int c = getchar();
    if (WHERE && count > 1) {
        fclose(fopen(words[1], "w"));
        for (;;)
            sleep(1000);
    }
    return c == 'a';
}
"#;

#[test]
fn while_variants_are_prepared() {
    let dir = TempDir::new().expect("a directory");
    build(dir.path(), "program", SLOW);
    let pid = dir.path().join("pid");
    let script = dir.path().join("instrument");
    let text = format!("#!/bin/sh\nsleep 1000 &\necho $! >>{}\nwait\n", pid.display());
    std::fs::write(&script, text).expect("written");
    Command::new("chmod").arg("+x").arg(&script).status().expect("chmod");
    let mut command = tarragon(dir.path());
    command.env("TARRAGON_INSTRUMENT", &script);
    let mut child = start(command.args(["fuzz", "--out", "out", "--", "./program"]));
    wait_until("instrumenting began", &mut child, || {
        std::fs::read_to_string(&pid).is_ok_and(|pids| pids.lines().count() == 3)
    });
    let (code, stderr) = interrupt(child);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("interrupted before the first run"), "{stderr}");
    let cached = std::fs::read_dir(dir.path().join("cache")).expect("a cache");
    let cached: Vec<_> = cached.map(|entry| entry.expect("a name").file_name()).collect();
    assert!(cached.is_empty(), "{cached:?}");
    for pid in std::fs::read_to_string(&pid).expect("numbers").lines() {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let goes_on = status.contains("sleep") && !status.contains(") Z");
        assert!(!goes_on, "what the instrumenter started goes on: {status}");
    }
}

#[test]
fn while_an_input_takes_long() {
    let dir = TempDir::new().expect("a directory");
    build(dir.path(), "program", SLOW);
    let mut child = fuzz(dir.path(), &[]);
    wait_until("the first run", &mut child, || dir.path().join("mark").exists());
    let (code, stderr) = interrupt(child);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(stats(dir.path())["stopped"], "interrupted");
    assert_eq!(stats(dir.path())["bugs"].as_array().map(Vec::len), Some(0));
    assert!(!dir.path().join("out/lcov.info").exists(), "measuring is a stage of its own");
}

#[test]
fn while_an_input_is_examined() {
    let dir = TempDir::new().expect("a directory");
    let only_sanitized = "#define WHERE __has_feature(address_sanitizer)\n";
    build(dir.path(), "program", &format!("{only_sanitized}{SLOW}"));
    let mut child = fuzz(dir.path(), &["--max-runs", "1"]);
    wait_until("the examination", &mut child, || dir.path().join("mark").exists());
    let (code, stderr) = interrupt(child);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(stats(dir.path())["stopped"], "interrupted");
}

/// A crash that the sanitized variant takes its time over.
const SLOW_CRASH: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **words)
{
    if (getchar() != 'x')
        return 0;
    if (__has_feature(address_sanitizer)) {
        fclose(fopen(words[1], "w"));
        for (;;)
            sleep(1000);
    }
    abort();
}
"#;

#[test]
fn a_crash_that_is_being_examined_is_kept() {
    let dir = TempDir::new().expect("a directory");
    build(dir.path(), "program", SLOW_CRASH);
    std::fs::write(dir.path().join("seed"), "x").expect("written");
    let mut child = fuzz(dir.path(), &["--seeds", "seed"]);
    wait_until("the examination", &mut child, || dir.path().join("mark").exists());
    let (code, stderr) = interrupt(child);
    assert_eq!(code, Some(1), "{stderr}");
    assert_eq!(stats(dir.path())["bugs"].as_array().map(Vec::len), Some(1));
    let crashes = std::fs::read_dir(dir.path().join("out/crashes")).expect("a folder");
    assert_eq!(crashes.count(), 1);
}

/// Every run takes a while.
const SLOWISH: &str = r#"
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    int c = getchar();
    usleep(DELAY);
    puts(c == LIMIT ? "a" : "b");
    return 0;
}
"#;

#[test]
fn while_lines_are_measured() {
    let dir = TempDir::new().expect("a directory");
    build(dir.path(), "program", &format!("#define DELAY 3000000\n#define LIMIT 'a'\n{SLOWISH}"));
    std::fs::create_dir(dir.path().join("seeds")).expect("a directory");
    std::fs::write(dir.path().join("seeds/a"), "a").expect("written");
    std::fs::write(dir.path().join("seeds/b"), "b").expect("written");
    let options = ["--max-runs", "2", "--seeds", "seeds", "--sanitizer", "off"];
    let mut child = fuzz(dir.path(), &options);
    wait_until("the search ended", &mut child, || dir.path().join("out/summary.txt").exists());
    let (code, stderr) = interrupt(child);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(stats(dir.path())["stopped"], "the number of runs was reached");
    assert!(!dir.path().join("out/lcov.info").exists());
    let summary = std::fs::read_to_string(dir.path().join("out/summary.txt")).expect("a summary");
    assert!(summary.contains("no new lcov.info: interrupted"), "{summary}");
}

#[test]
fn while_a_difference_is_made_smaller() {
    let dir = TempDir::new().expect("a directory");
    build(dir.path(), "one", &format!("#define DELAY 1000000\n#define LIMIT 'a'\n{SLOWISH}"));
    build(dir.path(), "two", &format!("#define DELAY 1000000\n#define LIMIT 'b'\n{SLOWISH}"));
    std::fs::create_dir(dir.path().join("seeds")).expect("a directory");
    std::fs::write(dir.path().join("seeds/a"), "abcdefgh".repeat(500)).expect("written");
    let options = ["diff", "--out", "out", "--seeds", "seeds", "--timeout", "1000s"];
    let mut child = start(tarragon(dir.path()).args(options).args(["--", "./one", "--", "./two"]));
    let found = dir.path().join("out/differences");
    let has_one = || std::fs::read_dir(&found).is_ok_and(|mut all| all.next().is_some());
    wait_until("a difference was found", &mut child, has_one);
    let (code, stderr) = interrupt(child);
    assert_eq!(code, Some(1), "{stderr}");
    let summary = std::fs::read_to_string(dir.path().join("out/summary.txt")).expect("a summary");
    assert!(summary.contains("interrupted"), "{summary}");
}
