//! Length abstraction: `cese` finds what needs an input of one length, without a symbolic byte for
//! each.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Asks for a length in a way of its own for each first letter, and says by its exit code that it
/// met it.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char line[2048], other[2048];

static int is_met(char way, char *name, char *end)
{
    size_t length;
    char *copy;
    switch (way) {
    case 'p':
        if (end - name == 555)
            return 1;
        break;
    case 'c':
        if (strcspn(name, ";:") == 401)
            return 1;
        break;
    case 'm':
        memcpy(other, name, (size_t)(end - name));
        other[end - name] = 0;
        if (strlen(other) == 302)
            return 1;
        break;
    case 's':
        *end = 0;
        if (snprintf(other, 100, "<%s>", name) == 303)
            return 1;
        break;
    case 'n':
        *end = 0;
        if (strnlen(name, 1000) == 999)
            return 1;
        break;
    case 'd':
        *end = 0;
        copy = strdup(name);
        length = copy ? strlen(copy) : 0;
        free(copy);
        if (length == 700)
            return 1;
        break;
    case 'r':
        if (strrchr(name, ';') - line == 1234)
            return 1;
        break;
    default:
        *end = 0;
        if (strlen(name) == 777)
            return 1;
    }
    return 0;
}

/* The ways to read that say themselves how much there was. */
static int is_read(char way)
{
    char *text = NULL;
    size_t room = 0;
    if (way == 'g') {
        ssize_t length = getline(&text, &room, stdin);
        free(text);
        if (length == 888)
            return 1;
    } else if (read(0, line, sizeof line) == 333) {
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return is_read(argv[1][0]) ? argv[1][0] : 0;
    if (!fgets(line, sizeof line, stdin))
        return 1;
    if (strlen(line) == sizeof line - 1)
        return 3;
    char *end = strchr(line, ';');
    return end && end > line && is_met(line[0], line + 1, end) ? line[0] : 0;
}
"#;

const GRAMMAR: &str = "line = ('l' | 'p' | 'c' | 'm' | 's' | 'n' | 'd' | 'r') /[a-z]+/ ';\\n' ;";

fn tarragon(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.current_dir(dir).env("TARRAGON_CACHE", dir.join("cache"));
    command
}

fn fuzz(dir: &Path, options: &[&str]) -> Value {
    let mut command = tarragon(dir);
    command
        .args(["fuzz", "--quiet", "--lcov", "off", "--strategy", "cese", "--out", "out"])
        .args(options);
    let output = command.output().expect("starts");
    let stats = fs::read(dir.join("out/stats.json")).unwrap_or_default();
    serde_json::from_slice(&stats)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// The exit codes of the plain program with an argument on all that was kept.
fn exit_codes(dir: &Path, argument: Option<&str>) -> BTreeSet<i32> {
    let entries = fs::read_dir(dir.join("out/corpus")).expect("a directory");
    let code = |path: &Path| {
        let input = fs::File::open(path).expect("an input");
        let status =
            Command::new(dir.join("program")).args(argument).stdin(Stdio::from(input)).status();
        status.expect("starts").code().unwrap_or(-1)
    };
    entries.map(|entry| code(&entry.expect("an entry").path())).collect()
}

fn built() -> TempDir {
    let dir = TempDir::new().expect("temporary directory");
    fs::write(dir.path().join("program.c"), PROGRAM).expect("written");
    fs::write(dir.path().join("line.tg"), GRAMMAR).expect("written");
    let built = tarragon(dir.path()).args(["cc", "-g", "-o", "program", "program.c"]).status();
    assert!(built.expect("starts").success());
    dir
}

const OPTIONS: [&str; 8] =
    ["--sanitizer", "off", "--max-runs", "600", "--grammar", "line.tg", "--", "./program"];

#[test]
fn what_was_read_has_a_length() {
    let dir = built();
    for way in ["g", "r"] {
        fuzz(dir.path(), &[&OPTIONS[..], &[way]].concat());
        let met = exit_codes(dir.path(), Some(way));
        assert!(met.contains(&i32::from(way.as_bytes()[0])), "{way}: {met:?}");
        fs::remove_dir_all(dir.path().join("out")).expect("removed");
    }
}

#[test]
fn a_length_is_met_however_it_is_asked_for() {
    let dir = built();
    let stats = fuzz(dir.path(), &OPTIONS);
    let met = exit_codes(dir.path(), None);
    let wanted: BTreeSet<i32> = b"lpcmsndr".iter().map(|way| i32::from(*way)).chain([3]).collect();
    assert!(met.is_superset(&wanted), "{met:?} of {wanted:?}: {}", stats["completeness"]);
    assert_eq!(stats["divergences"], 0, "{}", stats["divergence_places"]);
    let text = stats["completeness"]["text"].as_str().unwrap_or_default();
    assert!(text.contains("holes were chosen by the solver"), "{text}");
}

/// The mistake of Figure 2 of the CESE paper, with the paper's length: 1,000 bytes after a link.
#[test]
fn the_path_that_is_one_byte_too_long_is_found() {
    let dir = TempDir::new().expect("temporary directory");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ftp");
    let sources = ["main.c", "commands.c", "path.c", "tree.c"].map(|name| example.join(name));
    let built = tarragon(dir.path()).args(["cc", "-g", "-o", "ftpd"]).args(sources).status();
    assert!(built.expect("starts").success());
    let session = fs::File::open(example.join("tests/session.txt")).expect("a session");
    let output =
        Command::new(dir.path().join("ftpd")).stdin(Stdio::from(session)).output().expect("starts");
    assert_eq!(
        output.stdout,
        fs::read(example.join("tests/session.out")).expect("what it answers")
    );
    let grammar = example.join("ftp.tg");
    let grammar = grammar.to_str().expect("a plain path");
    let stats = fuzz(dir.path(), &["--max-runs", "1000", "--grammar", grammar, "--", "./ftpd"]);
    let bugs = stats["bugs"].as_array().expect("a list");
    assert_eq!(bugs.len(), 1, "{bugs:?}");
    assert_eq!(bugs[0]["kind"], "stack-buffer-overflow");
    assert!(
        bugs[0]["stack"][0].as_str().is_some_and(|frame| frame.contains("join")),
        "{}",
        bugs[0]
    );
    let crashes = fs::read_dir(dir.path().join("out/crashes")).expect("a directory");
    let inputs: Vec<Vec<u8>> =
        crashes.filter_map(|entry| fs::read(entry.expect("an entry").path()).ok()).collect();
    let name = inputs[0]
        .strip_suffix(b"\r\n")
        .and_then(|line| line.split(|byte| *byte == b'/').next_back());
    assert_eq!(name.map(<[u8]>::len), Some(1000), "{:?}", inputs[0].escape_ascii().to_string());
}

/// Copies a text into a buffer that is too small for long ones, in a function of its own for each
/// way.
const COPIES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[2048];

static void by_sprintf(const char *name) { char room[200]; sprintf(room, "<%s>", name); puts(room); }
static void by_strcpy(const char *name) { char room[200]; strcpy(room, name); puts(room); }
static void by_strcat(const char *name) { char room[200] = "/"; strcat(room, name); puts(room); }
static void by_strncat(const char *name) { char room[200] = "/"; strncat(room, name, 500); puts(room); }
static void by_stpcpy(const char *name) { char room[200]; puts(stpcpy(room, name)); puts(room); }
static void by_memcpy(const char *name, const char *end)
{
    char room[200] = "";
    memcpy(room, name, (size_t)(end - name));
    puts(room);
}
static void on_heap(const char *name)
{
    char *room = malloc(200);
    if (room)
        puts(strcpy(room, name));
    free(room);
}
static void made_to_measure(const char *name)
{
    char *room = malloc(strlen(name) + 2);
    if (room)
        puts(strcat(strcpy(room, "/"), name));
    free(room);
}

int main(void)
{
    char *end;
    if (!fgets(line, sizeof line, stdin) || !(end = strchr(line, ';')))
        return 1;
    *end = 0;
    switch (line[0]) {
    case 's': by_sprintf(line + 1); break;
    case 'c': by_strcpy(line + 1); break;
    case 'a': by_strcat(line + 1); break;
    case 'n': by_strncat(line + 1); break;
    case 'p': by_stpcpy(line + 1); break;
    case 'm': by_memcpy(line + 1, end); break;
    case 'h': on_heap(line + 1); break;
    case 'o': made_to_measure(line + 1); break;
    }
    return 0;
}
"#;

#[test]
fn an_overflow_is_found_however_the_text_is_copied() {
    let dir = TempDir::new().expect("temporary directory");
    fs::write(dir.path().join("copies.c"), COPIES).expect("written");
    let ways = "line = ('s' | 'c' | 'a' | 'n' | 'p' | 'm' | 'h' | 'o') NAME ';\\n' ; token NAME = \
                /[a-z]+/ ;";
    fs::write(dir.path().join("line.tg"), ways).expect("written");
    let built = tarragon(dir.path()).args(["cc", "-g", "-o", "copies", "copies.c"]).status();
    assert!(built.expect("starts").success());
    let options =
        ["--max-runs", "400", "--bound", "NAME=1", "--grammar", "line.tg", "--", "./copies"];
    let bounded = fuzz(dir.path(), &options);
    assert_eq!(bounded["bugs"].as_array().map(Vec::len), Some(0), "{}", bounded["bugs"]);
    fs::remove_dir_all(dir.path().join("out")).expect("removed");
    let options =
        ["--max-runs", "400", "--max-hole", "1", "--grammar", "line.tg", "--", "./copies"];
    let stats = fuzz(dir.path(), &options);
    let bugs = stats["bugs"].as_array().expect("a list").iter();
    let function = |bug: &Value| {
        let frame = bug["stack"][0].as_str().unwrap_or_default();
        frame.rsplit('(').next().unwrap_or_default().trim_end_matches(')').to_owned()
    };
    let found: BTreeSet<String> = bugs.map(function).collect();
    let wanted =
        ["by_memcpy", "by_sprintf", "by_stpcpy", "by_strcat", "by_strcpy", "by_strncat", "on_heap"];
    assert_eq!(
        found.iter().map(String::as_str).collect::<Vec<_>>(),
        wanted,
        "{}",
        stats["completeness"]
    );
}
