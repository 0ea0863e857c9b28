//! Programs with threads.

mod common;

use common::{bugs, fuzz};
use tempfile::TempDir;

/// As much of a small stack is used as a program can use: a variant needs more of it.
const SMALL_STACK: &str = r#"
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int sum(char *text, int depth)
{
    char own[64];
    memcpy(own, text, sizeof own);
    if (depth > 0)
        return own[depth % 64] + sum(own, depth - 1);
    return own[0];
}

static void *work(void *text)
{
    return (void *)(long)sum(text, 180);
}

int main(void)
{
    char text[64] = "";
    size_t size;
    void *result;
    pthread_t thread;
    pthread_attr_t attributes;
    read(0, text, 4);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, 1) == 0)
        abort();
    if (pthread_attr_setstacksize(&attributes, 32 << 10) != 0)
        abort();
    if (pthread_attr_getstacksize(&attributes, &size) != 0 || size != 32 << 10)
        abort();
    if (pthread_create(&thread, &attributes, work, text) || pthread_join(thread, &result))
        return 1;
    return (long)result == 7 * 'a' ? 2 : 0;
}
"#;

#[test]
fn small_stacks_are_large_enough_for_variants() {
    let dir = TempDir::new().expect("temporary directory");
    let stats = fuzz(dir.path(), SMALL_STACK, &["-pthread"], &["--max-runs", "20"], &[]);
    assert!(bugs(&stats).is_empty(), "{}", stats["bugs"]);
}
