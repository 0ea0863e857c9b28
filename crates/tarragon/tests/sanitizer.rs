//! Mistakes that do not end the program are found by its sanitized variant, and named with their stack.

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
        ["heap-buffer-overflow in program.c:19:21 (main)", "heap-use-after-free in program.c:7:12 (look)"]
    );
}

#[test]
fn without_the_sanitizer_they_are_not() {
    let dir = TempDir::new().expect("temporary directory");
    let found = bugs(&fuzz(dir.path(), PROGRAM, &[], &["--max-len", "2", "--sanitizer", "off"], &[]));
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
