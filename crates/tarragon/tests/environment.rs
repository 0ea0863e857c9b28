//! The environment as input: files, time, chance, variables, and calls that fail.

mod common;

use common::{bugs, fuzz, tarragon};
use std::path::Path;
use tempfile::TempDir;

/// All reports of bugs as one text.
fn reports(dir: &Path) -> String {
    let files = std::fs::read_dir(dir.join("out/reports")).expect("reports");
    files.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("text")).collect()
}

/// Every outcome of a file with a name of the program's own, and of one that the first one names.
const FILES: &str = r#"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
    struct stat st;
    if (stat("settings", &st) != 0)
        return 3;
    if (S_ISDIR(st.st_mode)) {
        DIR *directory = opendir("settings");
        struct dirent *entry;
        while ((entry = readdir(directory)))
            if (entry->d_name[0] == 'x')
                return 4;
        closedir(directory);
        return 5;
    }
    if (access("settings", R_OK) != 0)
        return 6;
    FILE *file = fopen("settings", "r");
    char line[8] = "";
    if (!file)
        return 7;
    if (!fgets(line, sizeof line, file))
        return 8;
    if (st.st_mode & S_IXOTH)
        return 9;
    if (st.st_size == 5)
        return 10;
    if (strncmp(line, "->", 2) == 0) {
        int other = open(line + 2, O_RDONLY);
        if (other < 0) {
            if (errno == EACCES)
                return 11;
            if (errno == ENOENT)
                return 12;
            return 13;
        }
        char byte;
        if (read(other, &byte, 1) == 1 && byte == '!')
            abort();
        return 14;
    }
    return 0;
}
"#;

#[test]
fn files_are_there_or_not() {
    let dir = TempDir::new().expect("temporary directory");
    let options = ["--env-model", "files", "--strategy", "whitebox", "--max-runs", "2000"];
    let stats = fuzz(dir.path(), FILES, &[], &options, &[]);
    assert_eq!(bugs(&stats).len(), 1, "{}", stats["bugs"]);
    assert_eq!(stats["environment"], serde_json::json!(["files"]));
    assert!(reports(dir.path()).contains("environment file1 is settings, which is there"));

    let replayed = tarragon(dir.path())
        .args(["replay", "out", "--env-model", "files", "--", "./program"])
        .output()
        .expect("starts");
    let text = String::from_utf8_lossy(&replayed.stdout).into_owned();
    // With content that can be read, `fopen` does not fail after `access`.
    for code in [0, 3, 4, 5, 6, 8, 9, 10, 11, 12, 14] {
        let line = format!("exit {code} ");
        assert!(text.lines().any(|found| found.starts_with(&line)), "exit {code}:\n{text}");
    }
    let without = tarragon(dir.path()).args(["replay", "out", "--", "./program"]).output();
    let without = String::from_utf8_lossy(&without.expect("starts").stderr).into_owned();
    assert!(without.contains("give the --source and --env-model options"), "{without}");
}

/// A descriptor says of its file what the name says; a file that is written anew is what was written.
const OPENED: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
    struct stat named, opened;
    char text[8] = "";
    int file = open("data", O_RDONLY);
    if (file < 0)
        return 1;
    if (fstat(file, &opened) != 0 || !S_ISREG(opened.st_mode))
        return 2;
    if (stat("data", &named) != 0 || named.st_size != opened.st_size
        || named.st_mode != opened.st_mode || named.st_ino != opened.st_ino)
        abort();
    if (opened.st_size != 3 || read(file, text, 8) != 3 || text[0] != 'q')
        return 3;
    FILE *again = fopen("data", "w");
    if (!again || fputs("new", again) < 0 || fclose(again) != 0)
        return 4;
    again = fopen("data", "r");
    if (!again || !fgets(text, 8, again) || strcmp(text, "new") != 0)
        abort();
    return 5;
}
"#;

#[test]
fn descriptors_and_names_agree() {
    let dir = TempDir::new().expect("temporary directory");
    let options = ["--env-model", "files", "--strategy", "whitebox", "--source", "file1=4"];
    let stats = fuzz(dir.path(), OPENED, &[], &options, &[]);
    assert!(bugs(&stats).is_empty(), "{}", stats["bugs"]);
    let arguments = [&["replay", "out"][..], &options[..2], &options[4..], &["--", "./program"]];
    let replayed = tarragon(dir.path()).args(arguments.concat()).output().expect("starts");
    let text = String::from_utf8_lossy(&replayed.stdout).into_owned();
    for code in [1, 2, 3, 5] {
        let line = format!("exit {code} ");
        assert!(text.lines().any(|found| found.starts_with(&line)), "exit {code}:\n{text}");
    }
}

/// What a run makes itself is no input.
const MADE: &str = r#"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char byte;
    FILE *file = fopen("own", "wx");
    if (!file || fputc('k', file) != 'k' || fclose(file) != 0)
        return 1;
    file = fopen("own", "r");
    if (!file || fread(&byte, 1, 1, file) != 1 || byte != 'k')
        abort();
    return 0;
}
"#;

#[test]
fn a_file_that_a_run_makes_is_what_it_made() {
    let dir = TempDir::new().expect("temporary directory");
    let stats = fuzz(dir.path(), MADE, &[], &["--env-model", "files", "--exhaustive"], &[]);
    assert!(bugs(&stats).is_empty(), "{}", stats["bugs"]);
    assert_eq!(stats["completeness"]["complete"], true, "{stats}");
}

const CHANCE: &str = r#"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
    char *place = getenv("SPOOL");
    time_t now = time(NULL), later = time(NULL);
    int dice = rand() % 6;
    if (place && strcmp(place, "/var") == 0 && now == 1234567890 && later > now + 100)
        if (dice == 5 && getuid() == 0 && getpid() == 7)
            abort();
    return 0;
}
"#;

#[test]
fn time_chance_and_names_are_solved_for() {
    let dir = TempDir::new().expect("temporary directory");
    let options = ["--env-model", "time,random,ids,variables", "--strategy", "whitebox"];
    let stats = fuzz(dir.path(), CHANCE, &[], &options, &[]);
    assert_eq!(bugs(&stats), ["SIGABRT (ABRT) in program.c:14:13 (main)"]);
    assert_eq!(stats["give_ups"], serde_json::json!({}));
    assert!(reports(dir.path()).contains("environment variable1 is the variable SPOOL"));
}

/// Each call that can fail has an error path; two of them are wrong.
const FAULTS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *copy(const char *text, int size)
{
    char *to = malloc(size + 1);
    memcpy(to, text, size);
    return to;
}

int main(void)
{
    char text[4];
    ssize_t size = read(0, text, sizeof text);
    if (size < 0)
        return 3;
    FILE *log = fopen("log", "w");
    if (!log)
        return 4;
    if (size == 4 && text[0] == 'c')
        free(copy(text, size));
    if (fwrite(text, 1, size, log) != size)
        return 5;
    if (fclose(log) != 0) {
        fclose(log);
        return 6;
    }
    return 0;
}
"#;

#[test]
fn calls_fail_one_at_a_time() {
    let dir = TempDir::new().expect("temporary directory");
    let options = ["--env-model", "faults", "--strategy", "whitebox", "--keep-by", "paths"];
    let stats = fuzz(dir.path(), FAULTS, &[], &options, &[]);
    let found = bugs(&stats);
    assert!(found.iter().any(|bug| bug.contains("program.c:10:5 (copy)")), "{found:?}");
    assert!(found.iter().any(|bug| bug.contains("program.c:28:9 (main)")), "{found:?}");
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(stats["environment"], serde_json::json!(["faults (at most 1)"]));
    let reports = reports(dir.path());
    for call in ["malloc fails at program.c:9 (copy)", "fclose fails at program.c:27 (main)"] {
        assert!(reports.contains(&format!("environment {call}")), "{call}: {reports}");
    }
    let arguments = ["replay", "out", "--env-model", "faults", "--", "./program"];
    let replayed = tarragon(dir.path()).args(arguments).output().expect("starts");
    let text = String::from_utf8_lossy(&replayed.stdout).into_owned();
    for code in [0, 3, 4, 5] {
        let line = format!("exit {code} ");
        assert!(text.lines().any(|found| found.starts_with(&line)), "exit {code}:\n{text}");
    }
}

/// Two calls fail only if two may.
const TWICE: &str = r#"
#include <stdlib.h>

int main(void)
{
    void *first = malloc(1), *second = malloc(2);
    if (!first && !second)
        abort();
    return 0;
}
"#;

#[test]
fn no_more_calls_fail_than_may() {
    for (most, expected) in [("1", 0), ("2", 1)] {
        let dir = TempDir::new().expect("temporary directory");
        let options = ["--env-model", "faults", "--max-faults", most, "--exhaustive"];
        let stats = fuzz(dir.path(), TWICE, &[], &options, &[]);
        assert_eq!(bugs(&stats).len(), expected, "{most}: {stats}");
        assert_eq!(stats["give_ups"], serde_json::json!({}));
        assert_eq!(stats["completeness"]["complete"], true, "{stats}");
    }
}

#[test]
fn wrong_options_are_explained() {
    let dir = TempDir::new().expect("temporary directory");
    let says = |options: &[&str], expected: &str| {
        let mut command = tarragon(dir.path());
        let output = command.arg("fuzz").args(options).args(["--", "true"]).output();
        let text = String::from_utf8_lossy(&output.expect("starts").stderr).into_owned();
        assert!(text.contains(expected), "{options:?}: {text}");
    };
    says(&["--env-model", "clock"], "possible values: faults, files, time");
    says(&["--max-faults", "2"], "--env-model");
    says(&["--source", "file1=9"], "goes with --env-model, which is not there");
    says(&["--env-model", "time", "--source", "time=9"], "each byte of it has its meaning");
}
