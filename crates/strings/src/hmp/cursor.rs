//! Reading tokens of a file, and saying what is wrong with it.

use thiserror::Error;

use super::syntax::Name;
use crate::bytes::ByteSet;

/// An error in the user's file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{line}:{column}: {message}")]
pub struct SyntaxError {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl SyntaxError {
    /// An error at a byte of `text`.
    pub fn at(text: &[u8], at: usize, message: impl Into<String>) -> Self {
        let before = &text[..at.min(text.len())];
        let line_start =
            before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        SyntaxError { line, column, message: message.into() }
    }
}

type Result<T> = std::result::Result<T, SyntaxError>;

#[derive(Debug)]
pub struct Cursor<'t> {
    pub text: &'t [u8],
    at: usize,
}

pub fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t [u8]) -> Self {
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Cursor { text, at }
    }

    /// Where the next token starts, after blanks and comments.
    pub fn position(&mut self) -> Result<usize> {
        loop {
            match self.text.get(self.at) {
                Some(byte) if byte.is_ascii_whitespace() => self.at += 1,
                Some(b'/') if self.text.get(self.at + 1) == Some(&b'/') => self.skip_line(),
                Some(b'/') if self.text.get(self.at + 1) == Some(&b'*') => self.skip_block()?,
                _ => return Ok(self.at),
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    fn skip_block(&mut self) -> Result<()> {
        let rest = &self.text[self.at + 2..];
        match rest.windows(2).position(|pair| pair == b"*/") {
            Some(length) => self.at += length + 4,
            None => return Err(self.error(self.at, "this comment is not closed: expected `*/`")),
        }
        Ok(())
    }

    pub fn peek(&mut self) -> Result<Option<u8>> {
        let at = self.position()?;
        Ok(self.text.get(at).copied())
    }

    pub fn error(&self, at: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError::at(self.text, at, message)
    }

    /// "expected …, found …" at the next token.
    pub fn expected<T>(&mut self, what: &str) -> Result<T> {
        let at = self.position()?;
        let found = match self.text.get(at) {
            None => "the end of the file".to_string(),
            Some(&byte) if is_name_byte(byte) => {
                let rest = &self.text[at..];
                let length =
                    rest.iter().position(|&byte| !is_name_byte(byte)).unwrap_or(rest.len()).min(40);
                format!("`{}`", String::from_utf8_lossy(&rest[..length]))
            }
            Some(&byte) => format!("`{}`", byte.escape_ascii()),
        };
        Err(self.error(at, format!("expected {what}, found {found}")))
    }

    /// Takes a sign if it comes next.
    pub fn accept(&mut self, sign: &str) -> Result<bool> {
        let at = self.position()?;
        let found = self.text[at..].starts_with(sign.as_bytes());
        if found {
            self.at += sign.len();
        }
        Ok(found)
    }

    pub fn expect(&mut self, sign: &str, place: &str) -> Result<()> {
        if self.accept(sign)? { Ok(()) } else { self.expected(&format!("`{sign}` {place}")) }
    }

    pub fn name(&mut self) -> Result<Option<Name<'t>>> {
        let at = self.position()?;
        let rest = &self.text[at..];
        if !rest.first().is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'_') {
            return Ok(None);
        }
        let length = rest.iter().position(|&byte| !is_name_byte(byte)).unwrap_or(rest.len());
        self.at += length;
        Ok(Some(Name { text: &rest[..length], at }))
    }

    /// Takes a word if it comes next.
    pub fn accept_word(&mut self, word: &str) -> Result<bool> {
        let start = self.position()?;
        let found =
            self.name()?.is_some_and(|name| name.text.eq_ignore_ascii_case(word.as_bytes()));
        if !found {
            self.at = start;
        }
        Ok(found)
    }

    /// A number, or `None` in place of a template's `$HAMPI_LENGTH$`.
    pub fn number(&mut self, what: &str) -> Result<Option<u64>> {
        if self.accept("$HAMPI_LENGTH$")? {
            return Ok(None);
        }
        let at = self.position()?;
        let digits = self.text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return self.expected(what);
        }
        self.at += digits;
        let text = std::str::from_utf8(&self.text[at..at + digits]).unwrap_or_default();
        match text.parse::<u64>() {
            Ok(number) if number <= u64::from(u32::MAX) => Ok(Some(number)),
            _ => Err(self.error(at, format!("the number {text} is too large"))),
        }
    }

    /// `\ddd`: three decimal digits.
    #[inline]
    pub fn decimal_byte(&mut self) -> Result<u8> {
        let at = self.at;
        if let Some(&[b'\\', a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9']) =
            self.text[at..].first_chunk::<4>()
        {
            let value = u32::from(a - b'0') * 100 + u32::from(b - b'0') * 10 + u32::from(c - b'0');
            if let Ok(byte) = u8::try_from(value) {
                self.at += 4;
                return Ok(byte);
            }
            return Err(self.error(at, format!("\\{value} is no byte: expected \\000 to \\255")));
        }
        Err(self.error(at, "expected three decimal digits after `\\`"))
    }

    /// A string in double quotes. `\"`, `\\`, `\n`, `\r`, `\t` and `\ddd` are escapes; any other
    /// backslash stands for itself.
    pub fn string(&mut self) -> Result<Vec<u8>> {
        let start = self.at;
        let mut string = Vec::new();
        self.at += 1;
        loop {
            match self.text.get(self.at) {
                None => return Err(self.error(start, "this string is not closed: expected `\"`")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => string.push(self.escape()?),
                Some(&byte) => {
                    string.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self) -> Result<u8> {
        let (byte, length) = match self.text.get(self.at + 1) {
            Some(b'0'..=b'9')
                if self.text[self.at + 1..]
                    .iter()
                    .take(3)
                    .filter(|b| b.is_ascii_digit())
                    .count()
                    == 3 =>
            {
                return self.decimal_byte();
            }
            Some(&quote @ (b'"' | b'\\' | b'\'')) => (quote, 2),
            Some(b'n') => (b'\n', 2),
            Some(b'r') => (b'\r', 2),
            Some(b't') => (b'\t', 2),
            _ => (b'\\', 1),
        };
        self.at += length;
        Ok(byte)
    }

    /// `['a'-'z']`, `[\097-\122]` or, as the paper writes, `[a-z]`; several in a row are united.
    pub fn byte_range(&mut self) -> Result<ByteSet> {
        self.at += 1;
        let mut set = ByteSet::EMPTY;
        while !self.accept("]")? {
            let at = self.position()?;
            let first = self.range_end()?;
            let last = if self.accept("-")? { self.range_end()? } else { first };
            if first > last {
                return Err(self.error(at, "this range is the wrong way round"));
            }
            set = set.union(ByteSet::range(first, last));
            self.accept(",")?;
        }
        Ok(set)
    }

    fn range_end(&mut self) -> Result<u8> {
        let at = self.position()?;
        match self.text[at..] {
            [b'\'', b'\\', escaped, b'\'', ..] if !escaped.is_ascii_digit() => {
                let byte = self.text.get(at + 2).map(|_| ()).and_then(|()| {
                    self.at += 1;
                    self.escape().ok()
                });
                self.at = at + 4;
                Ok(byte.unwrap_or(escaped))
            }
            [b'\'', byte, b'\'', ..] => {
                self.at += 3;
                Ok(byte)
            }
            [b'\'', b'\\', ..] => {
                self.at += 1;
                let byte = self.decimal_byte()?;
                self.expect("'", "after the character")?;
                Ok(byte)
            }
            [b'\\', ..] => self.decimal_byte(),
            [byte, ..] if byte != b']' && byte != b'\'' && !byte.is_ascii_whitespace() => {
                self.at += 1;
                Ok(byte)
            }
            _ => self.expected("a character of the range"),
        }
    }
}
