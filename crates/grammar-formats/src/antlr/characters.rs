//! What a `.g4` file writes in characters: literals, sets, escapes, and code that is skipped.

use super::syntax::{Element, Parser};
use crate::ReadError;
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, HirKind};

impl Parser<'_, '_> {
    pub(super) fn literal_or_range(&mut self) -> Result<Element, ReadError> {
        let pos = self.cursor.pos;
        let from = self.literal()?;
        let before = self.cursor.pos;
        self.blank();
        if !self.cursor.eat("..") {
            self.cursor.pos = before;
            return Ok(Element::Literal(from));
        }
        self.blank();
        let to = self.literal()?;
        let one = |s: &str| s.chars().next().filter(|c| c.len_utf8() == s.len());
        match one(&from).zip(one(&to)) {
            Some((a, b)) if a <= b => Ok(Element::Class(ClassUnicode::new([ClassUnicodeRange::new(a, b)]))),
            _ => Err(self.cursor.error_at(pos, "expected a range of two characters in increasing order")),
        }
    }

    fn literal(&mut self) -> Result<String, ReadError> {
        let start = self.cursor.pos;
        if !self.cursor.eat("'") {
            return Err(self.cursor.expected("a literal in quotes"));
        }
        let mut out = String::new();
        loop {
            match self.cursor.bump() {
                None | Some('\n') => {
                    return Err(self.cursor.error_at(start, "expected `'` at the end of this literal"));
                }
                Some('\'') => return Ok(out),
                Some('\\') => out.push(self.escape()?.unwrap_or('\u{fffd}')),
                Some(c) => out.push(c),
            }
        }
    }

    /// After a backslash. `None` for a lone surrogate, which no input can contain.
    fn escape(&mut self) -> Result<Option<char>, ReadError> {
        let pos = self.cursor.pos;
        Ok(Some(match self.cursor.bump() {
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
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
                return Ok(char::from_u32(code.min(0x10ffff)));
            }
            Some(c) => c,
            None => return Err(self.cursor.expected("an escaped character")),
        }))
    }

    /// `[a-z\n\p{L}]`
    pub(super) fn set(&mut self) -> Result<Element, ReadError> {
        let start = self.cursor.pos;
        self.cursor.bump();
        let mut class = ClassUnicode::empty();
        let mut last: Option<char> = None;
        loop {
            match self.cursor.peek() {
                None => return Err(self.cursor.error_at(start, "expected `]` at the end of this set")),
                Some(']') => {
                    self.cursor.bump();
                    return Ok(Element::Class(class));
                }
                Some('\\') if self.cursor.at("\\p") || self.cursor.at("\\P") => {
                    self.property(&mut class);
                    last = None;
                }
                Some('-') if last.is_some() && !self.cursor.at("-]") => {
                    self.cursor.bump();
                    let to = self.set_char()?.unwrap_or('\u{d7ff}');
                    let from = last.take().unwrap_or(to);
                    if from > to {
                        return Err(self.cursor.error_at(start, format!("the range {from}-{to} is empty")));
                    }
                    class.push(ClassUnicodeRange::new(from, to));
                }
                _ => {
                    last = self.set_char()?;
                    if let Some(c) = last {
                        class.push(ClassUnicodeRange::new(c, c));
                    }
                    // A range that begins with a surrogate begins after them.
                    if last.is_none() {
                        last = Some('\u{e000}');
                    }
                }
            }
        }
    }

    fn set_char(&mut self) -> Result<Option<char>, ReadError> {
        match self.cursor.bump() {
            Some('\\') => self.escape(),
            other => Ok(other),
        }
    }

    fn property(&mut self, class: &mut ClassUnicode) {
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
        let syntax = format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' });
        match regex_syntax::parse(&syntax).map(|hir| hir.into_kind()) {
            Ok(HirKind::Class(regex_syntax::hir::Class::Unicode(found))) => class.union(&found),
            _ => self.note(pos, format!("Unicode property `{name}` is not known and matches nothing")),
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
