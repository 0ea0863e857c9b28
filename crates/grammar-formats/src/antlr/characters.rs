//! What a `.g4` file writes in characters: literals, sets, escapes, and code that is skipped.

use super::properties::property;
use super::syntax::{Element, Parser};
use crate::ReadError;
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

impl Parser<'_, '_> {
    pub(super) fn literal_or_range(&mut self) -> Result<Element, ReadError> {
        let pos = self.cursor.pos;
        let from = self.literal()?;
        let before = self.cursor.pos;
        self.blank();
        if !self.cursor.eat("..") {
            self.cursor.pos = before;
            return Ok(Element::Literal(text(&from)));
        }
        self.blank();
        let to = self.literal()?;
        match single(&from).zip(single(&to)) {
            Some((a, b)) if a <= b => Ok(Element::Class(ClassUnicode::new(between(a, b)))),
            _ => Err(self
                .cursor
                .error_at(pos, "expected a range of two characters in increasing order")),
        }
    }

    fn literal(&mut self) -> Result<Vec<u32>, ReadError> {
        let start = self.cursor.pos;
        if !self.cursor.eat("'") {
            return Err(self.cursor.expected("a literal in quotes"));
        }
        let mut out = Vec::new();
        loop {
            match self.cursor.bump() {
                None | Some('\n') => {
                    return Err(self
                        .cursor
                        .error_at(start, "expected `'` at the end of this literal"));
                }
                Some('\'') => return Ok(out),
                Some('\\') => out.push(self.escape()?),
                Some(c) => out.push(c as u32),
            }
        }
    }

    /// The code after a backslash; it may be a lone surrogate.
    fn escape(&mut self) -> Result<u32, ReadError> {
        let pos = self.cursor.pos;
        Ok(match self.cursor.bump() {
            Some('n') => '\n' as u32,
            Some('r') => '\r' as u32,
            Some('t') => '\t' as u32,
            Some('b') => 8,
            Some('f') => 0xc,
            Some('u') => {
                let digits = if self.cursor.eat("{") {
                    let digits = self.cursor.eat_while(|c| c.is_ascii_hexdigit());
                    self.cursor.eat("}");
                    digits
                } else {
                    let rest = self.cursor.rest();
                    let len = rest.bytes().take(4).take_while(u8::is_ascii_hexdigit).count();
                    self.cursor.pos += len;
                    &rest[..len]
                };
                let code = u32::from_str_radix(digits, 16)
                    .map_err(|_| self.cursor.error_at(pos, "expected hexadecimal digits"))?;
                code.min(0x10ffff)
            }
            Some(c) => c as u32,
            None => return Err(self.cursor.expected("an escaped character")),
        })
    }

    /// `[a-z\n\p{L}]`
    pub(super) fn set(&mut self) -> Result<Element, ReadError> {
        let start = self.cursor.pos;
        self.cursor.bump();
        let mut class = ClassUnicode::empty();
        let mut last: Option<u32> = None;
        loop {
            match self.cursor.peek() {
                None => {
                    return Err(self.cursor.error_at(start, "expected `]` at the end of this set"));
                }
                Some(']') => {
                    self.cursor.bump();
                    return Ok(Element::Class(class));
                }
                Some('\\') if self.cursor.at("\\p") || self.cursor.at("\\P") => {
                    self.add_property(&mut class);
                    last = None;
                }
                Some('-') if last.is_some() && !self.cursor.at("-]") => {
                    self.cursor.bump();
                    let to = self.set_char()?;
                    let from = last.take().unwrap_or(to);
                    if from > to {
                        return Err(self.cursor.error_at(start, empty_range(from, to)));
                    }
                    between(from, to).for_each(|range| class.push(range));
                }
                _ => {
                    let code = self.set_char()?;
                    between(code, code).for_each(|range| class.push(range));
                    last = Some(code);
                }
            }
        }
    }

    fn set_char(&mut self) -> Result<u32, ReadError> {
        match self.cursor.bump() {
            Some('\\') => self.escape(),
            Some(c) => Ok(c as u32),
            None => Err(self.cursor.expected("a character or `]`")),
        }
    }

    fn add_property(&mut self, class: &mut ClassUnicode) {
        let pos = self.cursor.pos;
        let negated = self.cursor.at("\\P");
        self.cursor.pos += 2;
        let name = if self.cursor.eat("{") {
            let name = self.cursor.eat_while(|c| c != '}');
            self.cursor.eat("}");
            name.to_string()
        } else {
            self.cursor.bump().map(String::from).unwrap_or_default()
        };
        match property(&name) {
            Some(mut found) => {
                if negated {
                    found.negate();
                }
                class.union(&found);
            }
            None => self
                .note(pos, format!("Unicode property `{name}` is not known and matches nothing")),
        }
    }

    /// Code in braces; quotes and comments inside may hold braces of their own.
    pub(super) fn braces(&mut self) -> Result<(), ReadError> {
        let start = self.cursor.pos;
        match skip_code(self.cursor.rest(), '{', '}') {
            Some(len) => {
                self.cursor.pos += len;
                Ok(())
            }
            None => Err(self.cursor.error_at(start, "expected `}` at the end of this action")),
        }
    }

    pub(super) fn brackets(&mut self) -> Result<(), ReadError> {
        let start = self.cursor.pos;
        match skip_code(self.cursor.rest(), '[', ']') {
            Some(len) => {
                self.cursor.pos += len;
                Ok(())
            }
            None => Err(self.cursor.error_at(start, "expected `]`")),
        }
    }
}

fn single(codes: &[u32]) -> Option<u32> {
    match codes {
        [code] => Some(*code),
        _ => text(codes).chars().next().filter(|_| text(codes).chars().count() == 1).map(u32::from),
    }
}

/// Codes as text: pairs of surrogates are one character, a lone one is none that an input can
/// contain.
fn text(codes: &[u32]) -> String {
    let mut units = Vec::new();
    for code in codes {
        match char::from_u32(*code) {
            Some(c) => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
            None => units.push(*code as u16),
        }
    }
    String::from_utf16_lossy(&units)
}

/// The characters of a range of codes; surrogates are none.
fn between(from: u32, to: u32) -> impl Iterator<Item = ClassUnicodeRange> {
    let parts = [(from, to.min(0xd7ff)), (from.max(0xe000), to)];
    let range =
        |(a, b): (u32, u32)| Some(ClassUnicodeRange::new(char::from_u32(a)?, char::from_u32(b)?));
    parts.into_iter().filter(|(a, b)| a <= b).filter_map(range)
}

fn empty_range(from: u32, to: u32) -> String {
    let show = |code: u32| {
        char::from_u32(code).map_or(format!("U+{code:04X}"), |c| c.escape_debug().to_string())
    };
    format!("the range {}-{} is empty", show(from), show(to))
}

/// Length of balanced code that starts with `open`.
pub fn skip_code(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0usize;
    let mut chars = text.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(i + c.len_utf8());
            }
        } else if c == '\\' {
            chars.next();
        } else if let Some(end) = skip_quiet(&text[i..]) {
            while chars.peek().is_some_and(|(j, _)| *j < i + end) {
                chars.next();
            }
        }
    }
    None
}

/// A string on one line, or a comment.
fn skip_quiet(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return text.find("*/").map(|i| i + 2);
    }
    let quote = text.chars().next().filter(|c| *c == '"' || *c == '\'')?;
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(i + 1),
            _ => {}
        }
    }
    None
}
