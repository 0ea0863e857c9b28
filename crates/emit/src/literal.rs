//! Byte strings as literals of languages.
//!
//! All are plain ASCII. Long ones are broken into pieces, after line breaks where there are some,
//! so that people can read them. Escapes are of a fixed length where the language knows such: what
//! follows is never taken for a part of them.

/// A piece is broken off when it is about this long.
const LONG: usize = 72;
/// Where the next piece begins.
const INDENT: &str = "\n        ";

/// How a language writes a byte that does not stand for itself.
type Escape = fn(u8) -> String;

fn octal(byte: u8) -> String {
    format!("\\{byte:03o}")
}

fn hex(byte: u8) -> String {
    format!("\\x{byte:02x}")
}

/// A byte within double quotes.
fn quoted(byte: u8, escape: Escape) -> String {
    match byte {
        b'\n' => "\\n".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'"' | b'\\' => format!("\\{}", byte as char),
        b' '..=b'~' => (byte as char).to_string(),
        _ => escape(byte),
    }
}

/// The pieces of a literal; `write` gets each byte and what was written of the piece before it.
fn pieces(bytes: &[u8], write: impl Fn(u8, &str) -> String) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut last = None;
    for &byte in bytes {
        let is_full = pieces.last().is_some_and(|piece| piece.len() >= LONG);
        if is_full || last == Some(b'\n') {
            pieces.push(String::new());
        }
        if let Some(piece) = pieces.last_mut() {
            let text = write(byte, piece);
            piece.push_str(&text);
        }
        last = Some(byte);
    }
    pieces
}

/// The text between two pieces is for the language to choose.
fn joined(pieces: &[String], open: &str, between: &str, close: &str) -> String {
    format!("{open}{}{close}", pieces.join(between))
}

/// Of C and C++: octal escapes end after three digits, others take all digits that follow. A
/// question mark is escaped where it could be part of a trigraph.
pub fn c_string(bytes: &[u8]) -> String {
    let write = |byte: u8, before: &str| match byte {
        b'?' if before.ends_with('?') => "\\?".to_owned(),
        _ => quoted(byte, octal),
    };
    joined(&pieces(bytes, write), "\"", &format!("\"{INDENT}\""), "\"")
}

/// Of Python, where pieces side by side are one literal.
pub fn python_bytes(bytes: &[u8]) -> String {
    let write = |byte: u8, _: &str| quoted(byte, hex);
    joined(&pieces(bytes, write), "b\"", &format!("\"{INDENT}b\""), "\"")
}

/// Of Rust, where a backslash before a line break eats the spaces after it.
pub fn rust_bytes(bytes: &[u8]) -> String {
    let write = |byte: u8, before: &str| match byte {
        b' ' if before.is_empty() => hex(byte),
        _ => quoted(byte, hex),
    };
    joined(&pieces(bytes, write), "b\"", &format!("\\{INDENT}"), "\"")
}

/// Of Java, a string whose characters are the bytes. Octal escapes again: `\u` is read before
/// anything else, even where it makes a line break, and a backslash is always written twice.
pub fn java_string(bytes: &[u8]) -> String {
    let write = |byte: u8, _: &str| quoted(byte, octal);
    joined(&pieces(bytes, write), "\"", &format!("\"{INDENT}+ \""), "\"")
}

/// The format of `printf` in a shell, within single quotes: no shell keeps a zero byte in a
/// variable or an argument.
pub fn shell_format(bytes: &[u8]) -> String {
    let write = |(at, &byte): (usize, &u8)| match byte {
        b'\n' => "\\n".to_owned(),
        b'\\' => "\\\\".to_owned(),
        b'%' => "%%".to_owned(),
        b'-' if at == 0 => octal(byte),
        b'\'' => octal(byte),
        b' '..=b'~' => (byte as char).to_string(),
        _ => octal(byte),
    };
    format!("'{}'", bytes.iter().enumerate().map(write).collect::<String>())
}

pub(crate) fn c_text(text: &str) -> String {
    c_string(text.as_bytes())
}

pub(crate) fn rust_text(text: &str) -> String {
    format!("{text:?}")
}

/// A character that does not stand for itself is its number.
fn text_by(text: &str, escape: impl Fn(char) -> String) -> String {
    let write = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        ' '..='~' => c.to_string(),
        _ => escape(c),
    };
    format!("\"{}\"", text.chars().map(write).collect::<String>())
}

pub(crate) fn python_text(text: &str) -> String {
    text_by(text, |c| format!("\\U{:08x}", u32::from(c)))
}

/// Java reads `\u` before it looks for the ends of strings, so control characters are left to octal
/// escapes.
pub(crate) fn java_text(text: &str) -> String {
    let units =
        |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04x}")).collect();
    text_by(text, |c| if c.is_ascii() { octal(c as u8) } else { units(c) })
}

/// A word of a shell; anything may stand between its quotes.
pub(crate) fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Commands that set the positional parameters and variables of a shell to any bytes: `$(…)` drops
/// line breaks at the end, so that a dot stands there.
pub(crate) fn shell_words(arguments: &[Vec<u8>], environment: &[(String, Vec<u8>)]) -> Vec<String> {
    let value = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) if is_printable(bytes) => (None, shell_word(text)),
        _ => {
            let format = shell_format(&[bytes, b"."].concat());
            (Some(format!("word=$(printf {format})")), "\"${word%.}\"".to_owned())
        }
    };
    let mut lines = Vec::new();
    for argument in arguments {
        let (before, word) = value(argument);
        lines.extend(before);
        lines.push(format!("set -- \"$@\" {word}"));
    }
    for (name, bytes) in environment {
        let (before, word) = value(bytes);
        lines.extend(before);
        lines.push(format!("export {name}={word}"));
    }
    lines
}

pub(crate) fn is_printable(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' '..=b'~'))
}
