//! Mistakes that do not end the program are found by its sanitized variant, and named with their stack.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>

static int look(char *text)
{
    return text[0];
}

int main(void)
{
    int kind = getchar(), index = getchar() - '0';
    char *text = malloc(8);
    text[0] = 'x';
    if (kind == 'f') {
        free(text);
        printf("%c\n", look(text));
    } else if (kind == 'i' && index >= 0) {
        text[index] = 'y';
    }
    return 0;
}
"#;

/// No main; the last comparison reads one byte too many.
const HARNESS: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 5 && memcmp(data, "abort", 5) == 0)
        abort();
    return size >= 2 && data[0] == 'F' && data[1] == 'U' && data[size] == 'Z';
}
"#;

/// The statistics of a short campaign for a program.
fn fuzz(dir: &Path, source: &str, flags: &[&str], options: &[&str]) -> Value {
    let tarragon = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
        command.current_dir(dir).env("TARRAGON_CACHE", dir.join("cache"));
        command
    };
    std::fs::write(dir.join("program.c"), source).expect("written");
    let built = tarragon().args(["cc", "-g", "program.c", "-o", "program"]).args(flags).status();
    assert!(built.expect("starts").success());
    let words = ["fuzz", "--quiet", "--max-runs", "200", "--out", "out"];
    tarragon().args(words).args(options).args(["--", "./program"]).status().expect("starts");
    let stats = std::fs::read(dir.join("out/stats.json")).expect("statistics");
    serde_json::from_slice(&stats).expect("JSON")
}

/// Kinds and innermost frames, with paths cut to the file's name.
fn bugs(stats: &Value) -> Vec<String> {
    let list = stats["bugs"].as_array().expect("a list");
    let text = |bug: &Value| {
        let frame = bug["stack"][0].as_str().unwrap_or("no stack");
        format!(
            "{} in {}",
            bug["kind"].as_str().unwrap_or_default(),
            frame.rsplit('/').next().unwrap_or(frame)
        )
    };
    let mut bugs: Vec<String> = list.iter().map(text).collect();
    bugs.sort();
    bugs
}

#[test]
fn silent_mistakes_are_found_with_their_stacks() {
    let dir = TempDir::new().expect("temporary directory");
    let found = bugs(&fuzz(dir.path(), PROGRAM, &[], &["--max-len", "2"]));
    assert_eq!(
        found,
        ["heap-buffer-overflow in program.c:19:21 (main)", "heap-use-after-free in program.c:7:12 (look)"]
    );
}

#[test]
fn without_the_sanitizer_they_are_not() {
    let dir = TempDir::new().expect("temporary directory");
    let found = bugs(&fuzz(dir.path(), PROGRAM, &[], &["--max-len", "2", "--sanitizer", "off"]));
    assert!(!found.iter().any(|bug| bug.contains("heap-")), "{found:?}");
}

#[test]
fn libfuzzer_harnesses_need_no_main() {
    let dir = TempDir::new().expect("temporary directory");
    let found = bugs(&fuzz(dir.path(), HARNESS, &["-fsanitize=fuzzer"], &[]));
    assert_eq!(
        found,
        [
            "SIGABRT (ABRT) in program.c:10:9 (LLVMFuzzerTestOneInput)",
            "heap-buffer-overflow in program.c:11:61 (LLVMFuzzerTestOneInput)"
        ]
    );
}
