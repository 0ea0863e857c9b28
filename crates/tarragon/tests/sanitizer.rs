//! Mistakes that do not end the program are found by its sanitized variant, and named with their
//! stack.

mod common;

use common::{bugs, fuzz};
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

#[test]
fn silent_mistakes_are_found_with_their_stacks() {
    let dir = TempDir::new().expect("temporary directory");
    let found = bugs(&fuzz(dir.path(), PROGRAM, &[], &["--max-len", "2"], &[]));
    assert_eq!(
        found,
        [
            "heap-buffer-overflow in program.c:19:21 (main)",
            "heap-use-after-free in program.c:7:12 (look)"
        ]
    );
}

/// The mistake is the last thing that its function does.
const FREES_TWICE: &str = r#"
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void finish(char *text)
{
    free(text);
}

int main(void)
{
    char *text = malloc(8);
    finish(text);
    if (getchar() == 'd')
        finish(text);
    return 0;
}
"#;

#[test]
fn a_function_that_ends_with_the_mistake_is_on_the_stack() {
    let dir = TempDir::new().expect("temporary directory");
    let found = bugs(&fuzz(dir.path(), FREES_TWICE, &[], &["--max-len", "1"], &[]));
    assert_eq!(found, ["SIGABRT (double-free) in program.c:7:5 (finish)"]);
}

#[test]
fn without_the_sanitizer_they_are_not() {
    let dir = TempDir::new().expect("temporary directory");
    let found =
        bugs(&fuzz(dir.path(), PROGRAM, &[], &["--max-len", "2", "--sanitizer", "off"], &[]));
    assert!(!found.iter().any(|bug| bug.contains("heap-")), "{found:?}");
}

#[test]
fn libfuzzer_harnesses_need_no_main() {
    let dir = TempDir::new().expect("temporary directory");
    let found = bugs(&fuzz(dir.path(), HARNESS, &["-fsanitize=fuzzer"], &[], &[]));
    assert_eq!(
        found,
        [
            "SIGABRT (ABRT) in program.c:10:9 (LLVMFuzzerTestOneInput)",
            "heap-buffer-overflow in program.c:11:61 (LLVMFuzzerTestOneInput)"
        ]
    );
}

/// Each case is harmless with the bytes that merely reach it.
const CHECKS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int times(int a, int b)
{
    return a * b;
}

int main(void)
{
    unsigned char text[16] = {0};
    int x;
    size_t size = fread(text, 1, sizeof text, stdin);
    memcpy(&x, text + 1, 4);
    if (size < 8)
        return 1;
    if (text[0] == 'a')
        return x + 1000 > 0;
    if (text[0] == 'm')
        return times(x, 7) > 0;
    if (text[0] == 's')
        return 1 << text[5];
    if (text[0] == 'h') {
        char *block = malloc((size_t)(unsigned)x * 4);
        memset(block, 0, 1);
        puts(block);
        free(block);
    }
    if (text[0] == 'p' && size == 16) {
        char **pointer = (char **)(text + 8);
        return text[9] == 1 ? **pointer : 0;
    }
    if (text[0] == 'f') {
        char format[8] = {0};
        memcpy(format, text + 1, 7);
        printf(format);
    }
    for (int i = 0; text[0] == 'l' && i < 20; i++)
        puts(strcpy(malloc(10), "lost"));
    if (text[0] == 'w') {
        void say(const char *, ...);
        int count = 0;
        say("%d%n", size, &count);
    }
    return 0;
}

#include <stdarg.h>
/* Its formats are the program's own. */
__attribute__((noinline)) void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}
"#;

const UNDEFINED: [&str; 4] = [
    "invalid-shift-exponent in program.c:24:18 (main)",
    "signed-integer-overflow in program.c:20:18 (main)",
    "signed-integer-overflow in program.c:8:14 (times)",
    "format-string) in program.c:38:9 (main)",
];

#[test]
fn properties_are_violated_on_purpose() {
    let dir = TempDir::new().expect("temporary directory");
    let found = bugs(&fuzz(dir.path(), CHECKS, &["-w"], &["--max-len", "16"], &[]));
    let is_size = |bug: &String| {
        bug.contains("allocation-size-too-big") && bug.ends_with("program.c:26:23 (main)")
    };
    assert!(found.iter().any(is_size), "{found:?}");
    for bug in UNDEFINED {
        assert!(found.iter().any(|found| found.contains(bug)), "{bug} in {found:?}");
    }
    assert!(found.iter().any(|bug| bug.ends_with("program.c:33:31 (main)")), "{found:?}");
    assert!(!found.iter().any(|bug| bug.contains("leak")), "{found:?}");
    let formats = found.iter().filter(|bug| bug.contains("format-string"));
    assert_eq!(formats.count(), 1, "{found:?}");
}

#[test]
fn leaks_and_nothing_else() {
    let dir = TempDir::new().expect("temporary directory");
    let found =
        bugs(&fuzz(dir.path(), CHECKS, &["-w"], &["--max-len", "16", "--sanitizer", "leak"], &[]));
    assert!(found.contains(&"memory-leak in program.c:41:21 (main)".to_owned()), "{found:?}");
    assert!(
        !found.iter().any(|bug| UNDEFINED.iter().any(|other| bug.contains(other))),
        "{found:?}"
    );
}
