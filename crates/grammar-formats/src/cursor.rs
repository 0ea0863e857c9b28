//! A place in a grammar file: peeking, matching, and errors that point there.

use crate::{Note, ReadError};
use std::cell::OnceCell;
use std::rc::Rc;

#[derive(Clone)]
pub struct Cursor<'t> {
    pub file: &'t str,
    pub text: &'t str,
    pub pos: usize,
    /// Line and column at every `STRIDE`-th byte, once they are asked for: readers note many
    /// places.
    marks: Rc<OnceCell<Vec<(usize, usize)>>>,
}

const STRIDE: usize = 512;

impl<'t> Cursor<'t> {
    pub fn new(file: &'t str, text: &'t str) -> Cursor<'t> {
        let pos = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Cursor { file, text, pos, marks: Rc::default() }
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
        let (line, column) = self.line_column(pos);
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

    pub fn line_column(&self, pos: usize) -> (usize, usize) {
        let bytes = self.text.as_bytes();
        let marks = self.marks.get_or_init(|| {
            let chunks = bytes.chunks(STRIDE);
            let later = chunks.scan((1, 1), |place, chunk| {
                *place = walk(*place, chunk);
                Some(*place)
            });
            [(1, 1)].into_iter().chain(later).collect()
        });
        let pos = pos.min(bytes.len());
        let mark = pos / STRIDE;
        walk(marks[mark], &bytes[mark * STRIDE..pos])
    }

    pub fn note_at(&self, pos: usize, text: impl Into<String>) -> Note {
        let (line, column) = self.line_column(pos);
        Note { file: self.file.to_string(), line, column, text: text.into() }
    }
}

/// Line and column at a byte of a text, both from 1; columns count characters.
pub fn line_column(text: &str, pos: usize) -> (usize, usize) {
    walk((1, 1), &text.as_bytes()[..pos.min(text.len())])
}

/// Where some text leads from a line and column.
fn walk((line, column): (usize, usize), text: &[u8]) -> (usize, usize) {
    let start = |b: &&u8| **b & 0xc0 != 0x80;
    match text.iter().rposition(|b| *b == b'\n') {
        None => (line, column + text.iter().filter(start).count()),
        Some(last) => {
            let lines = text.iter().filter(|b| **b == b'\n').count();
            (line + lines, text[last + 1..].iter().filter(start).count() + 1)
        }
    }
}

pub fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

pub fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters() {
        let text = format!("é\nab\n{}\nx", "ü".repeat(1000));
        let cursor = Cursor::new("f", &text);
        for (pos, _) in text.char_indices() {
            let line = text[..pos].matches('\n').count() + 1;
            let column = text[..pos].rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
            assert_eq!(cursor.line_column(pos), (line, column));
            assert_eq!(line_column(&text, pos), (line, column));
        }
    }
}
