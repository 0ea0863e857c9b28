//! Literals against readers that know nothing of how they were written.

use emit::{c_string, java_string, python_bytes, rust_bytes, shell_format};
use proptest::prelude::*;

/// The parts of literals side by side, without what is between them.
fn parts(text: &str, open: &str, between: &str) -> Vec<String> {
    let mut rest = text;
    let mut parts = Vec::new();
    loop {
        rest = rest.strip_prefix(open).unwrap_or_else(|| panic!("{rest} does not begin right"));
        let (mut end, bytes) = (0, rest.as_bytes());
        while bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        parts.push(rest[..end].to_owned());
        rest = rest[end + 1..].trim_start();
        if rest.is_empty() {
            return parts;
        }
        rest = rest.strip_prefix(between).expect("what joins literals").trim_start();
    }
}

/// Reads escapes; `number` reads one that is a number, and says how long it is.
fn unescaped(text: &str, number: fn(&str) -> (u8, usize)) -> Vec<u8> {
    let (mut bytes, mut at) = (Vec::new(), 0);
    while let Some(&byte) = text.as_bytes().get(at) {
        assert!((b' '..=b'~').contains(&byte), "{text}: not plain ASCII");
        if byte != b'\\' {
            bytes.push(byte);
            at += 1;
            continue;
        }
        let simple = match text.as_bytes()[at + 1] {
            b'n' => Some(b'\n'),
            b't' => Some(b'\t'),
            b'r' => Some(b'\r'),
            mark @ (b'"' | b'\\' | b'?') => Some(mark),
            _ => None,
        };
        let (byte, len) = simple.map_or_else(|| number(&text[at + 1..]), |byte| (byte, 1));
        bytes.push(byte);
        at += 1 + len;
    }
    bytes
}

/// Up to three octal digits.
fn octal(text: &str) -> (u8, usize) {
    let digits: String = text.chars().take_while(|c| ('0'..='7').contains(c)).take(3).collect();
    (u8::from_str_radix(&digits, 8).expect("a byte"), digits.len())
}

/// An x and exactly two digits.
fn hex(text: &str) -> (u8, usize) {
    let digits = text.strip_prefix('x').expect("a number").get(..2).expect("two digits");
    (u8::from_str_radix(digits, 16).expect("a byte"), 3)
}

fn read_c(text: &str) -> Vec<u8> {
    assert!(!text.contains("??"), "{text}: may be a trigraph");
    parts(text, "\"", "").iter().flat_map(|part| unescaped(part, octal)).collect()
}

fn read_python(text: &str) -> Vec<u8> {
    parts(text, "b\"", "").iter().flat_map(|part| unescaped(part, hex)).collect()
}

/// A backslash at the end of a line eats all white space after it.
fn read_rust(text: &str) -> Vec<u8> {
    let mut lines = text.split("\\\n");
    let first = lines.next().expect("a line").to_owned();
    let whole = lines.fold(first, |whole, line| whole + line.trim_start());
    parts(&whole, "b\"", "none").iter().flat_map(|part| unescaped(part, hex)).collect()
}

fn read_java(text: &str) -> Vec<u8> {
    // What the compiler does first: a backslash before `u`, and an even number of them before it.
    let before_u = text.match_indices('u').map(|(at, _)| &text[..at]);
    let backslashes = before_u.map(|text| text.len() - text.trim_end_matches('\\').len());
    assert!(backslashes.into_iter().all(|count| count % 2 == 0), "{text}: a unicode escape");
    let mut rest = text;
    let mut bytes = Vec::new();
    for part in parts(text, "\"", "+ ").iter() {
        bytes.extend(unescaped(part, octal));
        rest = &rest[1..];
    }
    assert!(!rest.is_empty());
    bytes
}

/// What `printf` makes of a format without arguments.
fn read_shell(text: &str) -> Vec<u8> {
    let format = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).expect("quotes");
    assert!(!format.contains('\'') && !format.starts_with('-'), "{text}");
    let without_percent = format.replace("%%", "");
    assert!(!without_percent.contains('%'), "{text}: a directive");
    unescaped(&format.replace("%%", "%"), octal)
}

/// Bytes that mean something to a language come more often than others.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let special = prop::sample::select(b"\0\n\r\t\"'\\?/%$`-# ux019afAF.!(){}\x7f\xff".to_vec());
    prop::collection::vec(prop_oneof![3 => special, 1 => any::<u8>()], 0..200)
}

proptest! {
    #[test]
    fn every_byte_string_comes_back(bytes in text()) {
        prop_assert_eq!(&read_c(&c_string(&bytes)), &bytes);
        prop_assert_eq!(&read_python(&python_bytes(&bytes)), &bytes);
        prop_assert_eq!(&read_rust(&rust_bytes(&bytes)), &bytes);
        prop_assert_eq!(&read_java(&java_string(&bytes)), &bytes);
        prop_assert_eq!(&read_shell(&shell_format(&bytes)), &bytes);
    }

    #[test]
    fn lines_stay_short(bytes in text()) {
        for literal in [c_string, python_bytes, rust_bytes, java_string] {
            let literal = literal(&bytes);
            prop_assert!(literal.lines().all(|line| line.len() < 100), "{}", literal);
        }
    }
}

#[test]
fn known_traps() {
    assert_eq!(c_string(b"??/\x01a"), r#""?\?/\001a""#);
    assert_eq!(java_string(br"\u000a"), r#""\\u000a""#);
    assert_eq!(rust_bytes(b"a\n b"), "b\"a\\n\\\n        \\x20b\"");
    assert_eq!(python_bytes(b"\x01a"), r#"b"\x01a""#);
    assert_eq!(shell_format(b"-n %\0'"), r"'\055n %%\000\047'");
}
