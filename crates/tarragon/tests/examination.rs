//! The sanitized variant looks at more than what adds coverage.

mod common;

use common::{bugs, fuzz};
use tempfile::TempDir;

/// A printf of padded fields. Where it overflows, all of its branches were taken before.
const PRINTF: &str = r#"
#include <stdio.h>

static int format(const char *text, int size)
{
    char padded[16];
    int used = 0;
    for (int i = 0; i < size; i++) {
        if (text[i] != '%')
            continue;
        int width = 0;
        i++;
        while (i < size && text[i] >= '0' && text[i] <= '9')
            width = width * 10 + (text[i++] - '0');
        for (used = 0; used < width / 40; used++)
            padded[used] = ' ';
    }
    return used ? padded[0] : 0;
}

int main(void)
{
    char text[4];
    return format(text, fread(text, 1, 4, stdin));
}
"#;

#[test]
fn an_exhaustive_search_examines_every_path() {
    let dir = TempDir::new().expect("temporary directory");
    let stats = fuzz(dir.path(), PRINTF, &[], &["--exhaustive", "--fixed-len", "4"], &[]);
    assert_eq!(stats["completeness"]["complete"], true);
    assert_eq!((&stats["examined"], &stats["unexamined"]), (&stats["runs"], &0.into()));
    assert_eq!(bugs(&stats), ["stack-buffer-overflow in program.c:16:26 (format)"]);
}

/// A list of strings. A backslash at the very end makes it read one byte too many.
const JSON: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int strings(const char *text, size_t size)
{
    size_t at = 0;
    int count = 0;
    while (at < size && text[at] == '"') {
        at++;
        while (at < size && text[at] != '"') {
            if (text[at] == '\\' && text[++at] == 'n')
                count++;
            at++;
        }
        at++;
        count++;
    }
    return at < size ? -1 : count;
}

int main(void)
{
    char buffer[8];
    size_t size = fread(buffer, 1, sizeof buffer, stdin);
    char *text = malloc(size);
    memcpy(text, buffer, size);
    int count = strings(text, size);
    free(text);
    return count < 0;
}
"#;

#[test]
fn a_read_of_one_byte_too_many_is_found_without_new_coverage() {
    let dir = TempDir::new().expect("temporary directory");
    std::fs::create_dir(dir.path().join("seeds")).expect("a folder");
    std::fs::write(dir.path().join("seeds/all"), r#""\nb""\d"#).expect("written");
    std::fs::write(dir.path().join("seeds/wrong"), r#""\n"x"#).expect("written");
    let stats = fuzz(dir.path(), JSON, &[], &["--seeds", "seeds", "--max-len", "8"], &[]);
    assert_eq!(bugs(&stats), ["heap-buffer-overflow in program.c:13:37 (strings)"]);
}
