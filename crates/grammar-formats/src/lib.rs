//! Readers and writers of grammar notations.
//!
//! A reader turns text into a [`grammar::Grammar`]. What it cannot express becomes a note, never
//! silence; what it cannot read becomes a [`ReadError`] with line, column and what was expected.
//! Readers only look at text and at the files that the text names; they run nothing.

mod abnf;
mod antlr;
mod bison;
mod bnf_json;
mod build;
mod cursor;
mod detect;
mod flex;
mod flex_pattern;
mod tg;
mod tg_text;
mod tree_sitter;
mod w3c;
mod write_json;
mod write_tg;

pub use detect::{Format, read_path, read_text, read_texts};
pub use write_json::to_bnf_json;
pub use write_tg::to_tg;

use grammar::Grammar;
use std::fmt;

/// A grammar file larger than this is refused.
pub const MAX_FILE: usize = 64 << 20;

/// The result of reading: the grammar, and what was not understood.
#[derive(Debug)]
pub struct Read {
    pub grammar: Grammar,
    pub notes: Vec<Note>,
}

/// Something of the format that the grammar cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.text)
    }
}

#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{file}:{}{message}", place(*.line, *.column))]
pub struct ReadError {
    pub file: String,
    /// 0 for the file as a whole.
    pub line: usize,
    pub column: usize,
    pub message: String,
}

fn place(line: usize, column: usize) -> String {
    if line == 0 { " ".to_owned() } else { format!("{line}:{column}: ") }
}
