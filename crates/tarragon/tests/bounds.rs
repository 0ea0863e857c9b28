//! Accesses one beyond an object of known size, which nothing but the check of its bounds leads to: the program itself asks for
//! no such index, and its allocator leaves room behind the object.

mod common;

use common::{bugs, fuzz};
use tempfile::TempDir;

/// Lines with a comment have a mistake at one index, which the condition before lets pass.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *_Znwm(unsigned long);
void *_Znam(unsigned long);
void _ZdlPv(void *);

static const char source[26] = "source";

static void set(char *text, int index)
{
    text[index] = 1; /* stack */
}

int main(void)
{
    int kind = getchar(), index = getchar() - 'a';
    char *volatile text = 0;
    if (index < 0)
        return 1;
    if (kind == 'm' && index <= 16) {
        text = malloc(16);
        text[index] = 1; /* heap */
    }
    if (kind == 'c' && index <= 21) {
        text = calloc(3, 7);
        text[index] = 1; /* heap */
    }
    if (kind == 'r' && index <= 13) {
        text = realloc(malloc(4), 13);
        text[index] = 1; /* heap */
    }
    if (kind == 'a' && index <= 10) {
        text = memalign(64, 10);
        text[index] = 1; /* heap */
    }
    if (kind == 'd' && index <= 17) {
        text = strdup("sixteen letters!");
        return text[index]; /* heap */
    }
    if (kind == 'p' && index <= 4 && asprintf((char **)&text, "%d", kind) == 3)
        return text[index]; /* heap */
    if (kind == 'w' && index <= 4) {
        text = malloc(9);
        ((short *)text)[index] = 1; /* heap */
    }
    if (kind == 'l' && index <= 25) {
        text = malloc(1000);
        text[index * 40] = 1; /* heap */
    }
    if (kind == 'n' && index <= 18) {
        text = _Znwm(18);
        text[index] = 1; /* heap */
        _ZdlPv(text);
    }
    if (kind == 'N' && index <= 7) {
        text = _Znam(7);
        return text[index]; /* heap */
    }
    if (kind == 's' && index <= 10) {
        char local[10];
        set(local, index);
        return local[0];
    }
    if (kind == 'f' && index <= 13) {
        text = malloc(12);
        memset(text, 1, index); /* heap */
    }
    if (kind == 'y' && index <= 21) {
        text = malloc(20);
        memcpy(text, source, index); /* heap */
    }
    if (kind == 'z' && index <= 6) {
        text = malloc(5);
        strncpy(text, source, index); /* heap */
    }
    if (kind == 'q' && index <= 6)
        return memcmp(calloc(5, 1), source + 10, index); /* heap */
    return 0;
}
"#;

/// The bugs that the comments announce, without the end of their places.
fn announced() -> Vec<String> {
    let lines = PROGRAM.lines().zip(1..);
    let kind = |line: &str| line.rsplit_once("/* ").map(|(_, kind)| kind.trim_end_matches(" */").to_owned());
    let mut bugs: Vec<String> = lines
        .filter_map(|(line, number)| {
            kind(line).map(|kind| format!("{kind}-buffer-overflow in program.c:{number}:"))
        })
        .collect();
    bugs.sort();
    bugs
}

#[test]
fn one_beyond_an_object_is_asked_for() {
    let dir = TempDir::new().expect("temporary directory");
    let found = bugs(&fuzz(dir.path(), PROGRAM, &["-w", "-lstdc++"], &["--max-len", "2"], &[]));
    let (expected, found): (Vec<String>, Vec<String>) =
        (announced(), found.into_iter().filter(|bug| bug.contains("overflow")).collect());
    let is_found = |bug: &&String| !found.iter().any(|found| found.starts_with(bug.as_str()));
    let missed: Vec<&String> = expected.iter().filter(is_found).collect();
    assert!(missed.is_empty(), "{missed:?} missed, found {found:#?}");
    assert_eq!(found.len(), expected.len(), "{found:#?}");
}
