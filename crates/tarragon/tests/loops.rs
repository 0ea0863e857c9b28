//! Long loops, and loops that never end.

mod common;

use common::{bugs, fuzz};
use tempfile::TempDir;

const COUNTS: &str = r#"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    unsigned char bytes[2];
    if (fread(bytes, 1, 2, stdin) != 2)
        return 1;
    unsigned short x = bytes[0] | bytes[1] << 8;
    unsigned i;
    for (i = 0; i < x; i++)
        ;
    if (i == 10000)
        abort();
    return 0;
}
"#;

#[test]
fn a_number_of_rounds_that_the_program_asks_for_is_tried() {
    let dir = TempDir::new().expect("temporary directory");
    let stats = fuzz(dir.path(), COUNTS, &[], &["--max-len", "2", "--max-runs", "300"], &[]);
    assert_eq!(bugs(&stats), ["SIGABRT (ABRT) in program.c:15:9 (main)"]);
    assert_eq!(stats["stopped"], "the number of runs was reached");
    assert!(stats["restarts"].as_u64() > Some(0), "{}", stats["restarts"]);
}

/// `w` loops for ever, wherever it stands.
const INTERPRETER: &str = r#"
#include <stdio.h>

int main(void)
{
    static char code[256];
    int size = fread(code, 1, 255, stdin), value = 0;
    for (int at = 0; at < size; at++) {
        switch (code[at]) {
        case '+': value++; break;
        case '-': value--; break;
        case '.': putchar(value); break;
        case 'q': return 3;
        case 'w': for (;;) value ^= 1; break;
        default: return 1;
        }
    }
    return 0;
}
"#;

#[test]
fn endless_loops_are_met_a_few_times_only() {
    let dir = TempDir::new().expect("temporary directory");
    let stats =
        fuzz(dir.path(), INTERPRETER, &[], &["--max-runs", "600", "--timeout", "500ms"], &[]);
    assert_eq!(stats["coverage"]["covered"], stats["coverage"]["total"]);
    let (timeouts, shunned) = (stats["timeouts"].as_u64(), stats["shunned"].as_u64());
    assert!(timeouts > Some(0) && timeouts < Some(40), "{timeouts:?}");
    assert!(shunned > Some(0), "{shunned:?}");
}
