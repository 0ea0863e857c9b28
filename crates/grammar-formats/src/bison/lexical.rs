//! Symbols, strings, comments and code.

use super::Reader;
use crate::antlr::skip_code;
use crate::cursor::{is_name, is_name_start};
use crate::{ReadError, flex};

pub(super) enum Symbol {
    Name(String),
    Char(Vec<u8>),
    Text(String),
}

impl Reader<'_> {
    pub(super) fn symbol(&mut self) -> Result<Option<Symbol>, ReadError> {
        self.blank();
        match self.cursor.peek() {
            Some('\'') => Ok(Some(Symbol::Char(self.quoted_bytes()?))),
            Some('"') => Ok(Some(Symbol::Text(self.quoted()?))),
            Some(c) if is_name_start(c) || c == '.' || c == '$' => {
                let name =
                    self.cursor.eat_while(|c| is_name(c) || c == '.' || c == '-' || c == '$');
                Ok(Some(Symbol::Name(name.to_string())))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn quoted(&mut self) -> Result<String, ReadError> {
        Ok(String::from_utf8_lossy(&self.quoted_bytes()?).into_owned())
    }

    pub(super) fn quoted_bytes(&mut self) -> Result<Vec<u8>, ReadError> {
        let start = self.cursor.pos;
        let quote = self.cursor.bump();
        let mut out = Vec::new();
        loop {
            match self.cursor.bump() {
                None | Some('\n') => {
                    return Err(self.cursor.error_at(start, "expected the closing quote"));
                }
                c if c == quote => return Ok(out),
                Some('\\') => out.extend(flex::escape(&mut self.cursor)),
                Some(c) => out.extend(c.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
    }

    pub(super) fn code(&mut self) {
        self.cursor.pos +=
            skip_code(self.cursor.rest(), '{', '}').unwrap_or(self.cursor.rest().len());
    }

    pub(super) fn blank(&mut self) {
        loop {
            self.cursor.eat_while(char::is_whitespace);
            if self.cursor.at("//") {
                self.cursor.eat_while(|c| c != '\n');
            } else if self.cursor.at("/*") {
                self.cursor.pos += 2;
                self.cursor.eat_through("*/");
            } else {
                return;
            }
        }
    }
}
