//! Harnesses that take one input after the other in a process: results are those of processes of
//! their own.

mod common;

use common::{bugs, fuzz};
use serde_json::Value;
use tempfile::TempDir;

/// Statistics of a short campaign.
fn campaign(source: &str, flags: &[&str], options: &[&str]) -> Value {
    let dir = TempDir::new().expect("temporary directory");
    let options = [&["--lcov", "off"], options].concat();
    fuzz(dir.path(), source, flags, &options, &[])
}

const FUZZER: &[&str] = &["-fsanitize=fuzzer"];

/// What must not depend on processes.
fn results(stats: &Value) -> Vec<&Value> {
    [
        "runs",
        "paths",
        "coverage",
        "corpus",
        "crashes",
        "divergences",
        "unstable",
        "give_ups",
        "answers",
    ]
    .map(|name| &stats[name])
    .to_vec()
}

/// Symbolic data in global variables and on the heap, a table and a hash. What is kept from one
/// input to the next makes no difference to random inputs, but would if it still counted as part of
/// the input.
const STATELESS: &str = r#"
#include <stdlib.h>
#include <string.h>

static unsigned char copy[64];
static unsigned short last;
static const char *words[] = { "begin", "end", "while" };
static unsigned slots[64];

static unsigned hash(const char *text)
{
    unsigned result = 5381;
    while (*text)
        result = result * 33 ^ (unsigned char)*text++;
    return result;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    memset(slots, 0, sizeof slots);
    if (last == 0xd7c3)
        copy[1] = 1;
    last = size > 1 ? data[0] << 8 | data[1] : 0;
    for (int i = 0; i < 3; i++)
        slots[hash(words[i]) % 64] = i + 1;
    char *text = calloc(size + 1, 1);
    memcpy(text, data, size);
    memcpy(copy, text, size < 64 ? size : 64);
    int found = size > 0 ? slots[hash(text) % 64] : 0;
    if (found && strcmp(words[found - 1], text) == 0)
        copy[0] = 0;
    if (size > 3 && copy[1] + copy[2] == 99 && text[3] == 'x')
        abort();
    free(text);
    return 0;
}
"#;

#[test]
fn sharing_changes_no_result() {
    // In this order nothing hangs on how long the solver takes.
    let options = ["--max-len", "8", "--max-runs", "600", "--order", "depth-first"];
    let shared = campaign(STATELESS, FUZZER, &options);
    let own = campaign(STATELESS, FUZZER, &[&options[..], &["--fresh-process"]].concat());
    assert_eq!(results(&shared), results(&own));
    assert_eq!(shared["unstable"], 0);
    assert_eq!(bugs(&shared), ["SIGABRT (ABRT) in program.c:33:9 (LLVMFuzzerTestOneInput)"]);
}

/// Crashes and takes other branches after a few inputs.
const STATEFUL: &str = r#"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static int rounds;
    int vowels = 0;
    rounds++;
    for (size_t i = 0; i < size; i++)
        if (data[i] == 'a' || data[i] == 'e')
            vowels++;
    if (vowels == 2 && rounds > 3)
        abort();
    return vowels == 1 && rounds > 4 ? -1 : 0;
}
"#;

#[test]
fn what_earlier_inputs_bring_about_is_no_bug() {
    let stats = campaign(STATEFUL, FUZZER, &["--max-len", "4", "--max-runs", "300"]);
    assert_eq!(bugs(&stats), [""; 0]);
    assert_eq!(stats["crashes"], 0);
    assert!(stats["unstable"].as_u64() > Some(0), "{}", stats["unstable"]);
    let own =
        campaign(STATEFUL, FUZZER, &["--max-len", "4", "--max-runs", "300", "--fresh-process"]);
    assert_eq!(own["unstable"], 0);
    assert_eq!(stats["coverage"], own["coverage"]);
}

/// The sum is a local variable of the loop's function: what it depends on ends with the round.
const PERSISTENT: &str = r#"
#include <stdlib.h>

__AFL_FUZZ_INIT();

int main(void)
{
    unsigned char *text = __AFL_FUZZ_TESTCASE_BUF;
    unsigned sum = 0, odd = 0;
    while (__AFL_LOOP(10000)) {
        int size = __AFL_FUZZ_TESTCASE_LEN, depth = 0;
        if (sum == 0xd7d7)
            odd++;
        sum = 0;
        for (int i = 0; i < size; i++) {
            sum += text[i];
            if (text[i] == '(')
                depth++;
            else if (text[i] == ')')
                depth--;
        }
        if (size == 3 && sum == 300 && depth == 1)
            abort();
    }
    return odd;
}
"#;

#[test]
fn persistent_mode_shares_processes() {
    let options =
        ["--strategy", "whitebox", "--max-len", "6", "--max-runs", "400", "--sanitizer", "off"];
    let shared = campaign(PERSISTENT, &[], &options);
    let own = campaign(PERSISTENT, &[], &[&options[..], &["--fresh-process"]].concat());
    assert_eq!(shared["bugs"].as_array().map(Vec::len), Some(1), "{}", shared["bugs"]);
    assert_eq!(own["bugs"].as_array().map(Vec::len), Some(1), "{}", own["bugs"]);
    assert_eq!(results(&shared), results(&own));
}

/// The preparation takes longer than a run may; branches in it are covered all the same.
const PREPARED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int table[256];

static void prepare(void)
{
    for (int i = 0; i < 256; i++)
        table[i] = i % 3 == 0 ? i : -i;
    struct timespec pause = { 0, 700000000 };
    nanosleep(&pause, NULL);
}

int main(void)
{
    prepare();
    __AFL_INIT();
    int byte = getchar();
    if (byte != EOF && table[byte] == 66)
        abort();
    return 0;
}
"#;

#[test]
fn runs_begin_where_the_program_says() {
    let options = ["--timeout", "500ms", "--max-runs", "100"];
    let stats = campaign(PREPARED, &[], &options);
    assert_eq!(bugs(&stats), ["SIGABRT (ABRT) in program.c:23:9 (main)"]);
    assert_eq!(stats["timeouts"], 0);
    let (covered, total) = (&stats["coverage"]["covered"], &stats["coverage"]["total"]);
    assert_eq!(covered, total);
}
