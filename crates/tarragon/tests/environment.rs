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

/// A string without an end is read after a call that failed: only the sanitized build sees it. One
/// that failed before is harmless, and told, too.
const UNSEEN: &str = r#"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char *text = strdup("x"), *buffer = malloc(8);
    if (!buffer)
        return 1;
    memset(buffer, 'a', 8);
    ssize_t got = read(0, buffer, 7);
    return buffer[got < 0 && !text ? 8 : 0];
}
"#;

#[test]
fn reports_of_the_sanitized_build_name_the_calls_that_failed() {
    let dir = TempDir::new().expect("temporary directory");
    let options = ["--env-model", "faults", "--max-faults", "2", "--exhaustive"];
    let stats = fuzz(dir.path(), UNSEEN, &[], &options, &[]);
    assert_eq!(bugs(&stats), ["heap-buffer-overflow in program.c:13:12 (main)"]);
    let reports = reports(dir.path());
    let first = reports.find("environment strdup fails at program.c:8 (main)").expect(&reports);
    let second = reports.find("environment read fails at program.c:12 (main)").expect(&reports);
    assert!(first < second, "{reports}");
}

/// Answers fit each other, and what the program itself does: each `abort` is one that no system has.
const FITTING: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void demand(int holds)
{
    if (!holds)
        abort();
}

static void note(int signal)
{
}

static void variables(void)
{
    setenv("A", "abc", 1);
    demand(strcmp(getenv("A"), "abc") == 0);
    unsetenv("A");
    demand(!getenv("A") && !getenv("") && !getenv("X=Y"));
    demand(!fopen(getenv("NO_SUCH"), "r") || getenv("NO_SUCH"));
}

static void ids(void)
{
    pid_t own = getpid(), parent = getppid();
    demand(own != parent);
    signal(SIGUSR1, note);
    demand(kill(getpid(), SIGUSR1) == 0);
    pid_t child = fork();
    if (child == 0)
        _exit(getppid() == own && getpid() != own ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    demand(status == 0);
}

static void files(void)
{
    struct stat st;
    if (stat("cfg", &st) == 0)
        demand(st.st_uid == getuid());
    FILE *file = fopen("cfg", "w");
    if (file) {
        fputs("ab", file);
        fclose(file);
        demand(stat("cfg", &st) == 0 && st.st_size == 2);
        demand(unlink("cfg") == 0 && stat("cfg", &st) != 0);
    }
    file = fopen("new", "w");
    if (file) {
        fputs("xyz", file);
        fclose(file);
        if (rename("new", "data") == 0)
            demand(stat("data", &st) == 0 && st.st_size == 3 && stat("new", &st) != 0);
    }
    for (int i = 0; i < 40; i++) {
        char name[8];
        snprintf(name, sizeof name, "t%d", i);
        if (i == 4)
            continue;
        int made = open(name, O_CREAT | O_RDWR, 0600);
        if (made >= 0) {
            close(made);
            demand(open(name, O_RDONLY) >= 0);
        }
    }
    DIR *directory = opendir("t4");
    if (directory) {
        demand(fstat(dirfd(directory), &st) == 0 && S_ISDIR(st.st_mode));
        long start = telldir(directory);
        struct dirent *entry = readdir(directory);
        demand(entry && strcmp(entry->d_name, ".") == 0 && entry->d_ino != 0);
        seekdir(directory, start);
        demand(strcmp(readdir(directory)->d_name, ".") == 0);
        closedir(directory);
        demand(open("t4", O_CREAT | O_EXCL, 0600) < 0 && errno == EEXIST);
    }
}

static void times(void)
{
    time_t before = time(NULL);
    struct timespec now;
    for (int i = 0; i < 20; i++)
        usleep(500000);
    demand(time(NULL) - before >= 10);
    demand(timespec_get(&now, TIME_UTC) == TIME_UTC && now.tv_sec >= before);
    unsigned char bytes[80];
    demand(getrandom(bytes, sizeof bytes, 0) == 80);
    if (bytes[0] == 7)
        demand(getentropy(bytes, 257) != 0);
}

int main(void)
{
    variables();
    ids();
    times();
    files();
    return 0;
}
"#;

#[test]
fn answers_fit_each_other() {
    let dir = TempDir::new().expect("temporary directory");
    let all = ["--env-model", "files,time,random,ids,variables", "--max-runs", "150"];
    let stats = fuzz(dir.path(), FITTING, &[], &all, &[]);
    assert!(bugs(&stats).is_empty(), "{}", stats["bugs"]);
}

/// A stream whose flush failed says so afterwards, and what has no size does not fail.
const FLUSHED: &str = r#"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char *memory = malloc(4);
    if (!memory)
        return 1;
    FILE *file = fopen("x", "q");
    if (file || !(file = fopen("x", "w")))
        return 2;
    if (fwrite("", 1, 0, file) != 0 || ferror(file))
        abort();
    if (fflush(file) != 0) {
        if (!ferror(file))
            abort();
        return 3;
    }
    return 0;
}
"#;

#[test]
fn failed_streams_say_so() {
    let dir = TempDir::new().expect("temporary directory");
    let options = ["--env-model", "faults", "--exhaustive", "--keep-by", "paths"];
    let stats = fuzz(dir.path(), FLUSHED, &[], &options, &[]);
    assert!(bugs(&stats).is_empty(), "{}", stats["bugs"]);
    // None, malloc, fopen in three ways, fflush.
    assert_eq!(stats["paths"], 6, "{stats}");
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
    says(&["--max-faults", "2", "--env-model", "time"], "goes with --env-model faults");
    says(&["--max-faults", "0", "--env-model", "faults"], "0 is not in 1..");
    says(&["--source", "stdin=5", "--source", "stdin=7"], "--source stdin is given twice");
    says(&["--source", "file1=9"], "goes with --env-model, which is not there");
    says(&["--env-model", "time", "--source", "time=9"], "each byte of it has its meaning");
}
