//! Every row says what the C library's headers say.
//!
//! A name that a header declares has the type that the row's roles make. A name that none declares,
//! as those that only macros of headers use, is in the library.

use super::{MODELS, Model, Role, variadic};
use std::collections::HashSet;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt::Write as _;
use std::process::Command;

const HEADERS: &str = "\
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>
";

/// Functions that came with a version of glibc, by the start of their names.
const NEWER: [(&str, (u32, u32)); 5] = [
    ("__isoc23_", (2, 38)),
    ("strlcpy", (2, 38)),
    ("strlcat", (2, 38)),
    ("wcslcpy", (2, 38)),
    ("wcslcat", (2, 38)),
];

unsafe extern "C" {
    fn gnu_get_libc_version() -> *const c_char;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

fn rows() -> impl Iterator<Item = &'static Model> {
    MODELS.iter().chain(variadic::MODELS)
}

/// A row with each of its names.
fn names() -> impl Iterator<Item = (&'static str, &'static Model)> {
    rows()
        .flat_map(|row| std::iter::once(&row.name).chain(row.aliases).map(move |name| (*name, row)))
}

/// The type of the function, as C writes it.
fn signature(row: &Model) -> String {
    let types: Vec<_> = row.arguments.iter().map(|(_, role)| role.c_type(row.width)).collect();
    let arguments = if types.is_empty() { "void".to_owned() } else { types.join(", ") };
    format!("{}({arguments})", row.result.c_type(row.width))
}

/// What clang has against a C file: the names in the lines that it complains of.
fn complaints(lines: &[(&str, String)]) -> HashSet<String> {
    let folder = tempfile();
    let mut source = HEADERS.to_owned();
    let before = source.lines().count();
    lines.iter().for_each(|(_, line)| writeln!(source, "{line}").expect("strings can be written"));
    std::fs::write(&folder, source).expect("the file can be written");
    let run = Command::new("clang-22")
        .args(["-fsyntax-only", "-ferror-limit=0", "-fno-caret-diagnostics", "-w", "-std=gnu17"])
        .arg(&folder)
        .output()
        .expect("clang-22 starts");
    std::fs::remove_file(&folder).expect("the file can be removed");
    let output = String::from_utf8_lossy(&run.stderr).into_owned();
    let name_in = |line: &str| {
        let number: usize = line.split(':').nth(1)?.parse().ok()?;
        Some(lines[number.checked_sub(before + 1)?].0.to_owned())
    };
    let found: HashSet<_> =
        output.lines().filter(|line| line.contains("error:")).filter_map(name_in).collect();
    assert_eq!(found.is_empty(), run.status.success(), "{output}");
    found
}

fn tempfile() -> std::path::PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("tarragon-models-{}-{number}.c", std::process::id()))
}

/// Names that no header declares.
fn undeclared(names: &[&str]) -> HashSet<String> {
    let line = |name: &&str| format!("__typeof__({name}) *tarragon_uses_{name};");
    let lines: Vec<_> = names.iter().map(|name| (*name, line(name))).collect();
    complaints(&lines)
}

fn has_type(name: &str, signature: &str) -> String {
    // A name such as `struct stat *` has to be C as well: `stat` alone is the function.
    format!("_Static_assert(__builtin_types_compatible_p(__typeof__({name}), {signature}), \"\");")
}

fn is_in_library(name: &str) -> bool {
    let name = CString::new(name).expect("names have no 0");
    // SAFETY: the name ends with 0; a null library stands for all that are loaded.
    unsafe { !dlsym(std::ptr::null_mut(), name.as_ptr()).is_null() }
}

/// Whether this machine's library is too old to know the name.
fn is_newer(name: &str) -> bool {
    // SAFETY: the library's version is a constant.
    let version = unsafe { CStr::from_ptr(gnu_get_libc_version()) }.to_string_lossy();
    let mut parts = version.split('.').map(|part| part.parse::<u32>().expect("a number"));
    let version = (parts.next().expect("two parts"), parts.next().expect("two parts"));
    NEWER.iter().any(|(start, since)| name.starts_with(start) && version < *since)
}

/// What is wrong with rows, by name.
fn wrong_rows(rows: &[(&str, String)]) -> Vec<String> {
    let names: Vec<_> = rows.iter().map(|(name, _)| *name).filter(|name| !is_newer(name)).collect();
    let undeclared = undeclared(&names);
    let is_declared = |name: &str| names.contains(&name) && !undeclared.contains(name);
    let declared = rows.iter().filter(|(name, _)| is_declared(name));
    let asserts: Vec<_> = declared.map(|(name, ty)| (*name, has_type(name, ty))).collect();
    let unknown = undeclared.iter().filter(|name| !is_in_library(name)).cloned();
    let mut wrong: Vec<_> = complaints(&asserts).into_iter().chain(unknown).collect();
    wrong.sort();
    wrong
}

#[test]
fn rows_are_as_the_headers_say() {
    let rows: Vec<_> = names().map(|(name, row)| (name, signature(row))).collect();
    assert_eq!(wrong_rows(&rows), Vec::<String>::new());
}

#[test]
fn wrong_rows_are_found() {
    let row = |name, ty: &str| (name, ty.to_owned());
    let rows = [
        row("strlen", "size_t(const char *)"),
        row("strcmp", "int(const char *, char *)"),
        row("strtoll", "long(const char *, char **, int)"),
        row("__strcpy_chk", "char *(char *, const char *, size_t)"),
        row("strfoo", "int(void)"),
    ];
    assert_eq!(wrong_rows(&rows), ["strcmp", "strfoo", "strtoll"]);
}

#[test]
fn no_name_has_two_rows() {
    let mut seen = HashSet::new();
    let twice: Vec<_> = names().map(|(name, _)| name).filter(|name| !seen.insert(*name)).collect();
    assert_eq!(twice, Vec::<&str>::new());
}

/// Labels of at most six arguments reach a model.
#[test]
fn arguments_that_models_describe_are_among_the_first() {
    let is_late = |row: &&Model| row.arguments.iter().skip(6).any(|(_, role)| role.is_described());
    assert_eq!(rows().filter(is_late).map(|row| row.name).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn checked_rows_know_the_room() {
    let has_room = |row: &Model| row.arguments.iter().any(|(_, role)| *role == Role::Room);
    for row in rows() {
        assert_eq!(row.name.ends_with("_chk"), has_room(row), "{}", row.name);
    }
}
