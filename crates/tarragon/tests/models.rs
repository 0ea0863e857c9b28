//! Functions of the user's in the place of functions of a program (`--model`).

mod common;

use std::fs;
use std::path::Path;
use std::process::Output;

use common::{bugs, tarragon};
use serde_json::Value;
use tempfile::TempDir;

/// Answers one message.
const SERVER: &str = r#"
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>

static int handle(const char *text, long size)
{
    if (size == 5 && text[0] == 'P' && text[1] == 'U' && text[2] == 'T' && text[4] == '!')
        abort();
    return text[0];
}

int main(void)
{
    char text[64];
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(8080) };
    int waiting = socket(AF_INET, SOCK_STREAM, 0);
    if (waiting < 0 || bind(waiting, (struct sockaddr *)&here, sizeof here) || listen(waiting, 1))
        return 2;
    int connection = accept(waiting, 0, 0);
    if (connection < 0)
        return 3;
    handle(text, recv(connection, text, sizeof text, 0));
    return 0;
}
"#;

/// A message of five bytes.
const RECV: &str = r#"
#include <sys/socket.h>
#include <tarragon.h>

ssize_t recv(int s, void *buf, size_t len, int flags)
{
    size_t n = 5;
    tarragon_input(buf, n);
    return n;
}
"#;

/// No network is needed.
const NETWORK: &str = r#"
#include <sys/socket.h>

int socket(int domain, int type, int protocol) { return 40; }
int bind(int s, const struct sockaddr *address, socklen_t size) { return 0; }
int listen(int s, int backlog) { return 0; }
int accept(int s, struct sockaddr *address, socklen_t *size) { return 41; }
"#;

fn run(dir: &Path, words: &[&str]) -> Output {
    tarragon(dir).args(words).output().expect("tarragon starts")
}

fn build(dir: &Path, words: &[&str]) {
    let built = run(dir, words);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

fn written(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().expect("temporary directory");
    for (name, text) in files {
        fs::write(dir.path().join(name), text).expect("written");
    }
    dir
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn read(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).expect("readable")
}

#[test]
fn a_server_gets_its_message_from_a_model() {
    let files = [("server.c", SERVER), ("recv.c", RECV), ("network.c", NETWORK)];
    let dir = written(&files);
    let dir = dir.path();
    build(dir, &["cc", "-g", "server.c", "-o", "server"]);
    let models = ["--model", "recv.c", "--model", "network.c"];
    let fuzz = ["fuzz", "--quiet", "--out", "out", "--max-runs", "60"];
    let found = run(dir, &[&fuzz[..], &models, &["--", "./server"]].concat());
    assert_eq!(found.status.code(), Some(1), "{}", err(&found));

    let stats: Value = serde_json::from_str(&read(dir, "out/stats.json")).expect("JSON");
    assert_eq!(bugs(&stats), ["SIGABRT (ABRT) in server.c:9:9 (handle)"]);
    assert_eq!(stats["bugs"][0]["plain"], "SIGABRT", "the program with the models in it");
    assert_eq!(stats["models"][0], "recv (recv.c)");
    let all = "recv (recv.c), socket (network.c), bind (network.c), listen (network.c), accept \
               (network.c)";
    assert!(read(dir, "out/summary.txt").contains(&format!("  models      {all}\n")));
    assert!(read(dir, "out/reports/000001-sigabrt.txt").contains(&format!("models      {all}\n")));
    assert!(read(dir, "out/campaign.json").contains(&format!("./server with models: {all}")));
    assert!(read(dir, "out/lcov.info").contains("/recv.c\n"), "a model is covered, too");

    let again = |command: &str| {
        run(dir, &[&[command, "out/crashes"], &models[..], &["--", "./server"]].concat())
    };
    let replayed = again("replay");
    assert!(out(&replayed).starts_with("SIGABRT "), "{}", out(&replayed));
    assert!(!out(&replayed).contains("disagrees"), "{}", out(&replayed));
    assert_eq!(replayed.status.code(), Some(1));
    let judged = again("triage");
    assert!(out(&judged).starts_with("shows "), "{}", out(&judged));
    assert_eq!(judged.status.code(), Some(1));
}

/// Its exit code says which functions were replaced.
const FUNCTIONS: &str = r#"
#include <stdio.h>
#include <string.h>

int through_cxx(int x);

int checksum(const char *text)
{
    unsigned sum = 1;
    for (int i = 0; i < 1000; i++)
        sum = sum * 31 + (unsigned)text[i % 2];
    return sum == 0x1234567;
}

int kept(const char *text) __attribute__((alias("checksum")));

static int version(void)
{
    return 1;
}

static int negate(int x)
{
    return -x;
}

static int (*const table[])(int) = { negate };

static int choose(int x)
{
    static void *const places[] = { &&one, &&two };
    goto *places[x & 1];
one:
    return 1;
two:
    return 2;
}

int main(void)
{
    char text[3] = { getchar(), getchar(), 0 };
    int found = 0;
    if (strlen(text) == 76 && strlen(text) == 77)
        found |= 1;
    if (checksum(text))
        found |= 2;
    if (!kept(text))
        found |= 4;
    if (version() == 3)
        found |= 8;
    if (table[0](5) == 50)
        found |= 16;
    if (choose(1) == 12)
        found |= 32;
    if (through_cxx(2) == 9)
        found |= 64;
    return found;
}
"#;

/// A shared library whose function is called only by itself.
const SCALE: &str = r#"
__attribute__((noinline)) int scale(int x) { return x * 2; }
extern "C" int through_cxx(int x) { return scale(x); }
"#;

const FUNCTION_MODELS: &str = r#"
#include <stddef.h>

/* The C library's promises to depend on nothing else. */
size_t strlen(const char *text) { static size_t calls = 75; return ++calls; }
int checksum(const char *text) { return text[0] == 'a'; }
int version(void) { return 3; }
int negate(int x) { return x * 10; }
/* What it replaces goes by the same name here. */
int choose(int x) { return choose(x) + 10; }
int scaled(int x) __asm__("_Z5scalei");
int scaled(int x) { return 9; }
int helper(int x) { return x; }
"#;

#[test]
fn models_take_the_place_of_all_kinds_of_functions() {
    let files = [
        ("program.c", FUNCTIONS),
        ("scale.cc", SCALE),
        ("models.c", FUNCTION_MODELS),
        ("in", "ab"),
    ];
    let dir = written(&files);
    let dir = dir.path();
    build(dir, &["c++", "-g", "-shared", "-fPIC", "scale.cc", "-o", "libscale.so"]);
    let link = ["program.c", "-o", "program", "-L.", "-lscale", "-Wl,-rpath,$ORIGIN"];
    build(dir, &[&["cc", "-g"], &link[..]].concat());
    let program = ["--sanitizer", "off", "--model", "models.c", "--", "./program"];
    let replayed = run(dir, &[&["replay", "in"], &program[..]].concat());
    assert!(out(&replayed).starts_with("exit 127 "), "{}{}", out(&replayed), err(&replayed));
    assert!(!out(&replayed).contains("disagrees"), "{}", out(&replayed));
    let note = "note: models.c: the program neither defines nor calls helper\n";
    assert!(err(&replayed).contains(note), "{}", err(&replayed));
    // What a model branches on is seen, and what it replaces is not followed.
    let traced = run(dir, &["trace", "in", "--model", "models.c", "--", "./program"]);
    assert!(out(&traced).contains("program.c:45:9 (main): branch true, on bytes 0"));
    assert!(!out(&traced).contains("strlen"), "{}", out(&traced));
}

const SAME: &str = "static int same(int x) { return x; }\n";
const ERRORS: &str = "
#include <stdio.h>
int other(void);
int main(void) { putchar(getchar() + same(1) + other()); return 0; }
";

#[test]
fn models_without_effect_are_errors() {
    let program = format!("{SAME}{ERRORS}");
    let other = format!("{SAME}int other(void) {{ return same(2); }}\n");
    let files = [
        ("program.c", program.as_str()),
        ("other.c", &other),
        ("broken.c", "int other(void) { return missing; }\n"),
        ("mistyped.c", "int ohter(void) { return 1; }\n"),
        ("main.c", "int main(void) { return 1; }\n"),
        ("empty.c", "static int other(void) { return 1; }\n"),
        ("same.c", "int same(int x) { return 1; }\n"),
        ("first.c", "int other(void) { return 1; }\n"),
        ("second.c", "int other(void) { return 1; }\n"),
    ];
    let dir = written(&files);
    let dir = dir.path();
    build(dir, &["cc", "program.c", "other.c", "-o", "program"]);
    let error = |models: &[&str]| {
        let models = models.iter().flat_map(|model| ["--model", *model]).collect::<Vec<_>>();
        let failed = run(dir, &[&["fuzz"], &models[..], &["--", "./program"]].concat());
        assert_eq!(failed.status.code(), Some(2));
        assert!(!dir.join("tarragon-out").exists());
        err(&failed)
    };
    let broken = error(&["broken.c"]);
    assert!(broken.contains("the model broken.c does not compile:"), "{broken}");
    assert!(broken.contains("broken.c:1:26: error: use of undeclared identifier"), "{broken}");
    let mistyped = error(&["mistyped.c"]);
    let meant = "neither defines nor calls ohter (is other meant?); its functions and those that \
                 it calls: getc, getchar, other, putc, putchar, same";
    assert!(mistyped.contains(meant), "{mistyped}");
    assert!(error(&["main.c"]).contains("main cannot be replaced"));
    assert!(error(&["empty.c"]).contains("empty.c has no model"));
    assert!(error(&["missing.c"]).contains("the model missing.c cannot be read"));
    let same = error(&["same.c"]);
    assert!(same.contains("a static function of each of program.c, other.c"), "{same}");
    let twice = error(&["first.c", "second.c"]);
    assert!(twice.contains("two models of other, in first.c and in second.c"), "{twice}");
    let lexers = run(dir, &["lexers", "--model", "mistyped.c", "./program"]);
    assert_eq!(lexers.status.code(), Some(2), "{}", err(&lexers));
    fs::write(dir.join("program.sites.json"), "{}").expect("written");
    assert!(error(&["first.c"]).contains("--model needs the program itself, not a variant"));
    let variant = ["variant", "covered", "--model", "mistyped.c", "program", "-o", "covered"];
    assert_eq!(run(dir, &variant).status.code(), Some(2));
}
