//! The input in a program's words, its arguments and environment variables, for programs without a
//! fork server. Inside of those with one, the runtime does the same for each run.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use trace::words::{ALL, PIECE};

/// The pieces of an input that words still wait for, in order; they end at zero bytes.
pub(crate) struct Pieces<'a> {
    rest: std::collections::VecDeque<&'a [u8]>,
}

impl Pieces<'_> {
    pub fn of(input: &[u8]) -> Pieces<'_> {
        let rest = if input.is_empty() {
            Default::default()
        } else {
            input.split(|byte| *byte == 0).collect()
        };
        Pieces { rest }
    }

    /// Arguments after the program's name.
    pub fn fill_arguments(&mut self, arguments: Vec<OsString>) -> Vec<OsString> {
        let count = arguments.len();
        let mut filled = Vec::new();
        for (i, argument) in arguments.into_iter().enumerate() {
            if i + 1 == count && argument == ALL {
                filled.extend(self.rest.drain(..).map(|piece| OsStr::from_bytes(piece).to_owned()));
            } else {
                filled.push(self.fill(&argument));
            }
        }
        filled
    }

    pub fn fill(&mut self, word: &OsStr) -> OsString {
        let word = word.as_bytes();
        let mut filled = Vec::new();
        let mut start = 0;
        for at in memchr::memmem::find_iter(word, PIECE) {
            filled.extend_from_slice(&word[start..at]);
            filled.extend_from_slice(self.rest.pop_front().unwrap_or_default());
            start = at + PIECE.len();
        }
        filled.extend_from_slice(&word[start..]);
        OsString::from_vec(filled)
    }
}

/// Arguments and variables with an input in the place of its placeholders, as a target gets them:
/// the variables in the order of their names, each once.
pub fn fill_words(
    arguments: Vec<OsString>,
    environment: &[(OsString, OsString)],
    input: &[u8],
) -> (Vec<OsString>, Vec<(OsString, OsString)>) {
    let mut pieces = Pieces::of(input);
    let arguments = pieces.fill_arguments(arguments);
    let variables: BTreeMap<OsString, OsString> = environment.iter().cloned().collect();
    let filled = variables.into_iter().map(|(name, value)| (name, pieces.fill(&value))).collect();
    (arguments, filled)
}

/// Whether a word waits for a piece of the input.
pub(crate) fn waits(word: &OsStr) -> bool {
    word == ALL || memchr::memmem::find(word.as_bytes(), PIECE.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(arguments: &[&str], input: &str) -> Vec<String> {
        let words = arguments.iter().map(OsString::from).collect();
        let filled = Pieces::of(input.as_bytes()).fill_arguments(words);
        filled.into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn pieces_go_to_placeholders_in_order() {
        assert_eq!(filled(&["-x", "@{}", "a@{}b@{}"], "1\x002\x003\x004"), ["-x", "1", "a2b3"]);
        assert_eq!(filled(&["@{}", "@{}"], "1"), ["1", ""]);
    }

    #[test]
    fn variables_come_after_the_arguments_by_name() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let environment = [pair("B", "b@{}"), pair("A", "first"), pair("A", "a@{}")];
        let (arguments, variables) = fill_words(vec!["@{}".into()], &environment, b"1\x002\x003");
        assert_eq!(arguments, ["1"]);
        assert_eq!(variables, [pair("A", "a2"), pair("B", "b3")]);
    }

    #[test]
    fn the_last_argument_can_stand_for_all() {
        assert_eq!(filled(&["@{}", "@{...}"], "1\x002\x003"), ["1", "2", "3"]);
        assert_eq!(filled(&["@{...}"], "1\0"), ["1", ""]);
        assert_eq!(filled(&["@{...}"], ""), [""; 0]);
    }
}
