//! Each mistake that is reached is one bug: no fewer, whatever the program does to hide it, and no
//! more.

mod common;

use common::{bugs, fuzz};
use tempfile::TempDir;

/// Kinds and functions of the bugs that one byte of input can show.
fn found(source: &str) -> Vec<String> {
    let dir = TempDir::new().expect("temporary directory");
    let options = ["--exhaustive", "--max-len", "1", "--lcov", "off"];
    let stats = fuzz(dir.path(), source, &["-w"], &options, &[]);
    let short = |bug: String| match bug.split_once(" in ") {
        Some((kind, place)) => {
            let function =
                place.split_once(" (").map_or(place, |(_, name)| name.trim_end_matches(')'));
            format!("{kind} in {function}")
        }
        None => bug,
    };
    let mut found: Vec<String> = bugs(&stats).into_iter().map(short).collect();
    found.sort();
    found
}

/// Ends alike for many reasons.
const ENDS: &str = r#"
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline)) static

__attribute__((noreturn)) static void die(const char *why)
{
    fputs(why, stderr);
    abort();
}

APART void check(int holds)
{
    if (!holds)
        abort();
}

APART void must(int holds)
{
    assert(holds);
}

APART int ends(int c)
{
    if (c == 'a')
        abort();
    if (c == 'b')
        abort();
    if (c == 't')
        __builtin_trap();
    if (c == 'u')
        __builtin_trap();
    if (c == 'p')
        die("p");
    if (c == 'q')
        die("q");
    return c;
}

APART int first(int size)
{
    char local[size];
    memset(local, 1, size);
    return local[size / 2];
}

APART int second(int size)
{
    char local[size];
    memset(local, 2, size);
    return local[size / 3];
}

int main(void)
{
    int c = getchar();
    check(c != 'k'); check(c != 'l');
    must(c != 'm');
    must(c != 'n');
    ends(c);
    if (c == 'x')
        return first(100000000);
    if (c == 'y')
        return second(100000000);
    volatile int a = c == 'i' ? INT_MIN : 1;
    volatile int b = c == 'i' ? -1 : c != 'z';
    volatile int quotient = a / b;
    return quotient == 7;
}
"#;

#[test]
fn each_reason_to_end_is_a_bug() {
    assert_eq!(
        found(ENDS),
        [
            "SIGABRT (ABRT) in check",
            "SIGABRT (ABRT) in check",
            "SIGABRT (ABRT) in die",
            "SIGABRT (ABRT) in die",
            "SIGABRT (ABRT) in ends",
            "SIGABRT (ABRT) in ends",
            "SIGABRT (failed-assertion) in must",
            "SIGFPE (integer-divide-by-zero) in main",
            "SIGFPE (signed-integer-overflow) in main",
            "SIGILL (ILL) in ends",
            "SIGILL (ILL) in ends",
            "SIGSEGV (stack-overflow) in first",
            "SIGSEGV (stack-overflow) in second",
        ]
    );
}

/// Does to its standard error and to its signals what programs do, and prints what looks like a
/// report.
const HIDES: &str = r#"
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define APART __attribute__((noinline)) static

__attribute__((weak)) void __asan_init(void);

static void leave(int number)
{
    _exit(0);
}

APART void close_all(void)
{
    for (int number = 0; number < 300; number++)
        close(number);
    volatile char *memory = malloc(16);
    memory[16] = 1;
}

APART int reopen(void)
{
    freopen("/dev/null", "w", stderr);
    volatile int *memory = malloc(16);
    free((void *)memory);
    return memory[0];
}

APART void warn(int c)
{
    volatile int count = INT_MAX;
    count += c;
    for (int i = 0; i < 3000; i++)
        fputs("a warning of the program that is quite long, yes\n", stderr);
}

APART void forge(void)
{
    fputs("==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\n"
          "    #0 0x1 in forge /src/program.c:1:1\n", stderr);
    fputs("a.c:1:2: runtime error: division by zero\n    #0 0x55 in forge /src/a.c:1:2\n\n"
          "SUMMARY: UndefinedBehaviorSanitizer: integer-divide-by-zero a.c:1:2 \n", stderr);
}

APART void fault(void)
{
    signal(SIGSEGV, leave);
    *(volatile int *)16 = 1;
}

APART void give_up(void)
{
    signal(SIGABRT, leave);
    abort();
}

int main(void)
{
    int c = getchar();
    if (c == 'c')
        close_all();
    if (c == 'r')
        return reopen() == 7;
    if (c == 'w')
        warn(c);
    if (c == 'f')
        forge();
    if (c == 's')
        fault();
    if (c == 'g')
        give_up();
    if (c == 'k' && __asan_init)
        raise(SIGPIPE);
    return 0;
}
"#;

#[test]
fn what_a_program_does_to_its_output_and_signals_hides_nothing() {
    assert_eq!(
        found(HIDES),
        [
            "ABRT in give_up",
            "SEGV in fault",
            "SIGPIPE without a report in no stack",
            "heap-buffer-overflow in close_all",
            "heap-use-after-free in reopen",
            "signed-integer-overflow in warn",
        ]
    );
}

/// Programs that run scripts can be made to end themselves by any signal.
const SENDS: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    int c = getchar();
    if (c == 't')
        kill(0, SIGTERM);
    if (c == 'h')
        raise(SIGHUP);
    if (c == 'l') {
        alarm(1);
        pause();
    }
    if (c == 'x')
        abort();
    return 0;
}
"#;

#[test]
fn a_program_that_is_told_to_end_has_no_bug() {
    let dir = TempDir::new().expect("temporary directory");
    let options = ["--exhaustive", "--max-len", "1", "--lcov", "off", "--timeout", "5s"];
    let stats = fuzz(dir.path(), SENDS, &["-w"], &options, &[]);
    assert_eq!(bugs(&stats), ["SIGABRT (ABRT) in program.c:19:9 (main)"]);
    assert!(stats["told_to_end"].as_u64().is_some_and(|runs| runs >= 3), "{stats}");
}

/// As bison writes actions: in a block, with the lines of another file, within a function that has
/// lines of its own.
const ACTIONS: &str = r#"
#include <stdio.h>

int main(void)
{
    int c = getchar(), d = 0;
    switch (c) {
    case 'd':
#line 7 "rules.y"
    { int e = c - 'd'; d = 12 / e; }
#line 11 "program.c"
    break;
    }
    return d;
}
"#;

#[test]
fn lines_of_generated_code_are_those_of_its_source() {
    let dir = TempDir::new().expect("temporary directory");
    let options = ["--exhaustive", "--max-len", "1"];
    let stats = fuzz(dir.path(), ACTIONS, &["-w"], &options, &[]);
    let found = bugs(&stats);
    assert!(found[0].contains("in rules.y:7:"), "{found:?}");
    let lcov = std::fs::read_to_string(dir.path().join("out/lcov.info")).expect("coverage");
    assert!(lcov.contains("rules.y\n"), "{lcov}");
}

/// Two of the letters anywhere in the input divide by zero.
const PARTS: &str = r#"
#include <stdio.h>

int main(void)
{
    int x = 0, y = 0, c;
    while ((c = getchar()) != EOF) {
        x += c == 'x';
        y += c == 'y';
    }
    return 10 / ((x == 0) + (y == 0));
}
"#;

#[test]
fn the_input_of_a_bug_is_made_small() {
    let dir = TempDir::new().expect("temporary directory");
    std::fs::write(dir.path().join("seed"), "aaxbbyc").expect("written");
    let options = ["--strategy", "random", "--max-runs", "3", "--seeds", "seed", "--lcov", "off"];
    let stats = fuzz(dir.path(), PARTS, &[], &options, &[]);
    let file = stats["bugs"][0]["file"].as_str().expect("a file");
    let input = std::fs::read_to_string(dir.path().join("out").join(file)).expect("an input");
    assert_eq!(input, "xy");
    assert!(stats["shrinking"].as_u64().is_some_and(|runs| runs > 2), "{}", stats["shrinking"]);
    assert_eq!(stats["runs"], 3);
}
