//! A place in a grammar file: peeking, matching, and errors that point there.

use crate::{Note, ReadError};

#[derive(Clone)]
pub struct Cursor<'t> {
    pub file: &'t str,
    pub text: &'t str,
    pub pos: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(file: &'t str, text: &'t str) -> Cursor<'t> {
        let pos = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Cursor { file, text, pos }
    }

    pub fn rest(&self) -> &'t str {
        &self.text[self.pos..]
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    pub fn at(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Moves past `text` if it is next.
    pub fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.pos += text.len();
        }
        found
    }

    pub fn eat_while(&mut self, good: impl Fn(char) -> bool) -> &'t str {
        let from = self.pos;
        let rest = self.rest();
        self.pos += rest.find(|c| !good(c)).unwrap_or(rest.len());
        &self.text[from..self.pos]
    }

    /// Moves past everything up to and including `text`; to the end if it does not come.
    pub fn eat_through(&mut self, text: &str) -> bool {
        match self.rest().find(text) {
            Some(i) => {
                self.pos += i + text.len();
                true
            }
            None => {
                self.pos = self.text.len();
                false
            }
        }
    }

    pub fn done(&self) -> bool {
        self.pos >= self.text.len()
    }

    pub fn error_at(&self, pos: usize, message: impl Into<String>) -> ReadError {
        let (line, column) = line_column(self.text, pos);
        ReadError { file: self.file.to_string(), line, column, message: message.into() }
    }

    pub fn error(&self, message: impl Into<String>) -> ReadError {
        self.error_at(self.pos, message)
    }

    /// "expected …, found …"
    pub fn expected(&self, what: &str) -> ReadError {
        let found = match self.peek() {
            None => "the end of the file".to_string(),
            Some(c) => format!("`{}`", c.escape_debug()),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    pub fn note_at(&self, pos: usize, text: impl Into<String>) -> Note {
        let (line, column) = line_column(self.text, pos);
        Note { file: self.file.to_string(), line, column, text: text.into() }
    }
}

pub fn line_column(text: &str, pos: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..pos.min(text.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}

pub fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

pub fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
