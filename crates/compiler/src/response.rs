//! Expands response files (`@file`) as clang does, so that the words inside can be understood.
//!
//! Clang itself gets the user's words; what is expanded here is for Tarragon's own use.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Response files that name each other in a circle end here; clang reports them.
const DEEPEST: usize = 16;

/// Words with response files replaced by their content. A file that cannot be read stays as it is,
/// as in clang.
pub fn expand(words: &[OsString]) -> Vec<OsString> {
    let mut expanded = Vec::new();
    expand_into(words, DEEPEST, &mut expanded);
    expanded
}

fn expand_into(words: &[OsString], depth: usize, expanded: &mut Vec<OsString>) {
    for word in words {
        match word.as_bytes().strip_prefix(b"@").filter(|_| depth > 0).and_then(read) {
            Some(content) => expand_into(&tokenize(&content), depth - 1, expanded),
            None => expanded.push(word.clone()),
        }
    }
}

fn read(name: &[u8]) -> Option<Vec<u8>> {
    std::fs::read(Path::new(OsStr::from_bytes(name))).ok()
}

/// GNU rules: blanks separate, quotes of both kinds group, a backslash takes the next character
/// literally.
fn tokenize(content: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = content.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => word.get_or_insert_default().extend(bytes.next()),
            _ if quote == Some(byte) => quote = None,
            b'"' | b'\'' if quote.is_none() => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            _ if byte.is_ascii_whitespace() && quote.is_none() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// The text of a response file that stands for `words`.
pub fn quote(words: &[OsString]) -> Vec<u8> {
    let mut text = Vec::new();
    for word in words {
        text.push(b'"');
        for &byte in word.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.extend_from_slice(b"\"\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tokens() {
        let words = tokenize(b"-DA=\"x y\" 'b c' d\\ e \"\" -DS=\\\"s\\\"\n f");
        assert_eq!(words, ["-DA=x y", "b c", "d e", "", "-DS=\"s\"", "f"]);
    }

    proptest! {
        #[test]
        fn quoted_words_come_back(words in proptest::collection::vec(any::<Vec<u8>>(), 0..6)) {
            let words: Vec<OsString> = words.into_iter().map(OsString::from_vec).collect();
            prop_assert_eq!(tokenize(&quote(&words)), words);
        }
    }
}
