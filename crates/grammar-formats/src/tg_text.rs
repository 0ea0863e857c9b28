//! Strings and regular expressions of Tarragon's notation.

use crate::ReadError;
use crate::cursor::Cursor;
use crate::tg::Reader;
use grammar::Pattern;

impl Reader<'_> {
    pub(crate) fn regex(&mut self) -> Result<Pattern, ReadError> {
        let start = self.cursor.pos;
        self.cursor.bump();
        let mut text = String::new();
        loop {
            match self.cursor.bump() {
                None | Some('\n') => {
                    return Err(self
                        .cursor
                        .error_at(start, "expected `/` at the end of this regular expression"));
                }
                Some('/') => break,
                Some('\\') if self.cursor.eat("/") => text.push('/'),
                Some('\\') => {
                    text.push('\\');
                    text.extend(self.cursor.bump());
                }
                Some(c) => text.push(c),
            }
        }
        Pattern::parse(&text).map_err(|e| self.cursor.error_at(start + 1 + e.offset, e.message))
    }

    pub(crate) fn string(&mut self) -> Result<Vec<u8>, ReadError> {
        let start = self.cursor.pos;
        let Some(quote @ ('"' | '\'')) = self.cursor.bump() else {
            return Err(self.cursor.error_at(start, "expected a string"));
        };
        let mut out = Vec::new();
        loop {
            match self.cursor.bump() {
                None | Some('\n') => {
                    return Err(self
                        .cursor
                        .error_at(start, format!("expected `{quote}` at the end of this string")));
                }
                Some(c) if c == quote => return Ok(out),
                Some('\\') => self.escape(&mut out)?,
                Some(c) => out.extend(c.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), ReadError> {
        let pos = self.cursor.pos;
        let bad = |cursor: &Cursor| {
            cursor.error_at(pos, r#"expected \n, \t, \r, \0, \\, \", \', \xHH or \u{…}"#)
        };
        match self.cursor.bump() {
            Some('n') => out.push(b'\n'),
            Some('t') => out.push(b'\t'),
            Some('r') => out.push(b'\r'),
            Some('0') => out.push(0),
            Some(c @ ('\\' | '"' | '\'' | '/')) => out.push(c as u8),
            Some('x') => {
                let digits: String = (0..2).filter_map(|_| self.cursor.bump()).collect();
                out.push(u8::from_str_radix(&digits, 16).map_err(|_| bad(&self.cursor))?);
            }
            Some('u') if self.cursor.eat("{") => {
                let digits = self.cursor.eat_while(|c| c.is_ascii_hexdigit());
                let c = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                let c = c.filter(|_| self.cursor.eat("}")).ok_or_else(|| bad(&self.cursor))?;
                out.extend(c.encode_utf8(&mut [0; 4]).bytes());
            }
            _ => return Err(bad(&self.cursor)),
        }
        Ok(())
    }
}
