//! Accesses one beyond an object of known size, which nothing but the check of its bounds leads to:
//! the program itself asks for no such index, and its allocator leaves room after the object.

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

/// Arrays with other members after them, so that an access beyond them stays in the object. The
/// lines without a comment are right.
const MEMBERS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct parts {
    int before;
    char text[8];
    short rows[3][4];
    char end[4];
};
static struct parts global;
struct wide { int before; char text[64]; int after; };
struct padded { long before; char data[4]; } __attribute__((aligned(32)));
struct named { char name[4]; int number; };
static struct named named[2];

static void set(struct named *named, int index)
{
    named->name[index] = 1; /* out-of-bounds-index */
}

int main(void)
{
    int kind = getchar(), index = getchar() - 'a', row = getchar() - 'a';
    struct parts local = {0}, *volatile heap;
    if (index < 0 || row < 0 || row > 2)
        return 1;
    if (kind == 'g' && index <= 8)
        global.text[index] = 1; /* out-of-bounds-index */
    if (kind == 'l' && index <= 8)
        local.text[index] = 1; /* out-of-bounds-index */
    if (kind == 'r' && index <= 4)
        return global.rows[1][index]; /* out-of-bounds-index */
    if (kind == 'R' && index <= 3)
        return global.rows[row][index];
    if (kind == 'h' && index <= 8) {
        heap = calloc(1, sizeof *heap);
        struct parts *parts = heap;
        return parts->text[index]; /* out-of-bounds-index */
    }
    if (kind == 'F' && index <= 4)
        set(&named[1], index);
    if (kind == 'v' && index <= 8) {
        struct { int before; char text[8]; } view = {0};
        struct wide *wide = (struct wide *)&view;
        return wide->text[index]; /* stack-buffer-overflow */
    }
    if (kind == 'e' && index <= 3) {
        char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(page + 4096, 4096, PROT_NONE);
        struct wide *wide = (struct wide *)(page + 4096 - 8);
        return wide->text[index];
    }
    if (kind == 'p' && index <= 20) {
        struct padded *padded = aligned_alloc(32, 64);
        padded->data[index] = 1;
        free(padded);
    }
    if (kind == 'f' && index <= 9) {
        heap = calloc(1, sizeof *heap + 6);
        struct parts *parts = heap;
        parts->end[index] = 1;
        return parts->end[index] + local.before;
    }
    return 0;
}
"#;

/// Two indices that are input, of arrays that other members, rows or elements stand around. The
/// lines without a comment are right.
const INDICES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct part { int before; char a[4]; int after[2]; };
struct grid { int before; short cells[3][4]; int after[4]; };
union either { char a[4]; long words[2]; };
struct tagged { int tag; union either either; };
struct rows { int count; short cells[1][4]; };
struct flexible { int count; char a[]; };
struct none { int count; char a[0]; };
struct one { int count; char a[1]; };
struct some { int count; char a[4]; };
struct padded { long before; char a[4]; } __attribute__((aligned(32)));
static struct part parts[8];
static int cells[3][4];

static void set(struct part *part, int index)
{
    part->a[index] = 1; /* out-of-bounds-index */
}

static int right(int kind, int i, int j)
{
    char *block = calloc(1, 64);
    if (kind == 'R')
        return ((struct rows *)block)->cells[i + 1][j & 3];
    if (kind == 'F')
        return ((struct flexible *)(block + 4 * i))->a[j];
    if (kind == 'Z')
        return ((struct none *)(block + 4 * i))->a[j];
    if (kind == 'O')
        return ((struct one *)(block + 4 * i))->a[j];
    if (kind == 'S')
        return ((struct some *)block)[i].a[j];
    if (kind == 'P')
        return ((struct padded *)aligned_alloc(32, 128))[i].a[j];
    if (kind == 'E') {
        char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(page + 4096, 4096, PROT_NONE);
        return ((struct part *)(page + 4096 - 40))[i].a[j & 3];
    }
    return 0;
}

int main(void)
{
    int kind = getchar(), i = getchar() - 'a', j = getchar() - 'a';
    struct part local[3] = {0}, *volatile heap = calloc(3, sizeof *heap);
    struct grid grid = {0}, *volatile grids = calloc(1, sizeof *grids);
    union either *volatile eithers = calloc(3, sizeof *eithers);
    struct tagged *volatile tagged = calloc(3, sizeof *tagged);
    short rows[3][4] = {0};
    if (kind == 'i' && i >= 0 && i <= 3 && j >= 0 && j < 4)
        grids->cells[i][j] = 1; /* out-of-bounds-index */
    if (i < 0 || i > 2)
        return 1;
    if (kind == 'n' && j >= -1 && j < 4)
        return heap[i].a[(signed char)j]; /* out-of-bounds-index */
    if (kind == 'N' && j >= -1 && j < 4)
        return local[i].a[j]; /* out-of-bounds-index */
    if (j < 0 || j > 5)
        return 1;
    if (kind == 'a')
        memset(&parts[i].a[j], 1, 1); /* out-of-bounds-index */
    if (j == 5)
        return 1;
    if (kind == 'g')
        parts[i].a[j] = 1; /* out-of-bounds-index */
    if (kind == 'h')
        return heap[i].a[(unsigned char)j]; /* out-of-bounds-index */
    if (kind == 'l')
        local[i].a[(unsigned long)j] = 1; /* out-of-bounds-index */
    if (kind == 'j')
        return grids->cells[i][(short)j]; /* out-of-bounds-index */
    if (kind == 'k')
        return grid.cells[i][(long)j]; /* out-of-bounds-index */
    if (kind == 'c' && i < 2)
        cells[i][(unsigned)j] = 1; /* out-of-bounds-index */
    if (kind == 'r' && i < 2)
        return rows[i][j]; /* out-of-bounds-index */
    if (kind == 'u')
        return eithers[i].a[j]; /* out-of-bounds-index */
    if (kind == 't')
        tagged[i].either.a[j] = 1; /* out-of-bounds-index */
    if (kind == 'm')
        return parts[i & 1].a[j / 2 * 2]; /* out-of-bounds-index */
    if (kind == 's')
        return parts[j].a[j]; /* out-of-bounds-index */
    if (kind == 'w') {
        set(parts, i);
        set(parts + 1, j);
    }
    return right(kind, i, j) + local[0].before;
}
"#;

/// The bugs that the comments announce, without the end of their places.
fn announced(program: &str, kind_suffix: &str) -> Vec<String> {
    let lines = program.lines().zip(1..);
    let kind = |line: &str| {
        line.rsplit_once("/* ").map(|(_, kind)| kind.trim_end_matches(" */").to_owned())
    };
    let mut bugs: Vec<String> = lines
        .filter_map(|(line, number)| {
            kind(line).map(|kind| format!("{kind}{kind_suffix} in program.c:{number}:"))
        })
        .collect();
    bugs.sort();
    bugs
}

#[test]
fn one_beyond_an_object_is_asked_for() {
    let dir = TempDir::new().expect("temporary directory");
    let found = bugs(&fuzz(dir.path(), PROGRAM, &["-w", "-lstdc++"], &["--max-len", "2"], &[]));
    let found = found.into_iter().filter(|bug| bug.contains("overflow")).collect();
    compare(announced(PROGRAM, "-buffer-overflow"), found);
}

#[test]
fn one_beyond_an_array_inside_a_struct_is_asked_for() {
    compare_all(MEMBERS);
}

#[test]
fn either_of_two_indices_is_asked_for() {
    compare_all(INDICES);
}

/// The bugs are those that the comments announce, and properties are violated there only, too.
fn compare_all(program: &str) {
    let dir = TempDir::new().expect("temporary directory");
    let found = bugs(&fuzz(dir.path(), program, &["-w"], &["--max-len", "3"], &[]));
    compare(announced(program, ""), found.clone());
    for report in std::fs::read_dir(dir.path().join("out/reports")).expect("reports") {
        let text = std::fs::read_to_string(report.expect("a report").path()).expect("text");
        let place = text.lines().find_map(|line| line.strip_prefix("where ")).map(str::trim);
        let is_known = |place: &str| found.iter().any(|bug| bug.ends_with(place));
        assert!(!text.starts_with("property") || place.is_some_and(is_known), "{text}");
    }
}

fn compare(expected: Vec<String>, found: Vec<String>) {
    let is_missed = |bug: &&String| !found.iter().any(|found| found.starts_with(bug.as_str()));
    let missed: Vec<&String> = expected.iter().filter(is_missed).collect();
    assert!(missed.is_empty(), "{missed:?} missed, found {found:#?}");
    assert_eq!(found.len(), expected.len(), "{found:#?}");
}
