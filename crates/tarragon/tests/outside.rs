//! Input that code without bitcode reads: the campaign says so, by the name of the function, and
//! claims nothing. `crates/cases/programs/outside_*` has the other ways in which it can be lost.

mod common;

use std::path::Path;
use std::process::Command;

use common::fuzz;
use tempfile::TempDir;

const LIBRARY: &str = r"
#include <stdio.h>

int get_line(char *to, int size)
{
    return fgets(to, size, stdin) != NULL;
}
";

const PROGRAM: &str = r#"
#include <stdlib.h>
#include <string.h>

int get_line(char *to, int size);

int main(void)
{
    char line[16];
    if (get_line(line, sizeof line) && strcmp(line, "magic") == 0)
        abort();
    return 0;
}
"#;

fn build_library(dir: &Path) {
    std::fs::write(dir.join("line.c"), LIBRARY).expect("written");
    let words = ["-shared", "-fPIC", "line.c", "-o", "libline.so"];
    assert!(
        Command::new("clang-22").args(words).current_dir(dir).status().expect("starts").success()
    );
}

#[test]
fn a_shared_library_that_reads_the_input_is_named() {
    let dir = TempDir::new().expect("temporary directory");
    build_library(dir.path());
    let path = format!("-Wl,-rpath,{}", dir.path().display());
    let options = ["--exhaustive", "--max-len", "6", "--lcov", "off", "--sanitizer", "off"];
    let stats = fuzz(dir.path(), PROGRAM, &["-L.", "-lline", &path], &options, &[]);
    assert_eq!(stats["completeness"]["complete"], false, "{stats}");
    assert_eq!(stats["lost_through"][0]["function"], "get_line", "{stats}");
    let summary = std::fs::read_to_string(dir.path().join("out/summary.txt")).expect("a summary");
    assert!(summary.contains("times through get_line"), "{summary}");
    assert!(summary.contains("not complete"), "{summary}");
}
