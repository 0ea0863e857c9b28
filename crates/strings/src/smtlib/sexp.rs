//! S-expressions of SMT-LIB.

use crate::hmp::SyntaxError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sexp {
    /// A symbol, number or keyword, and where it stands.
    Word(String, usize),
    Text(Vec<u8>, usize),
    /// A string with characters that are no bytes.
    Wide(usize),
    List(Vec<Sexp>, usize),
}

/// Deeper nesting is refused.
const DEEPEST: usize = 20_000;

impl Sexp {
    pub fn at(&self) -> usize {
        match self {
            Sexp::Word(_, at) | Sexp::Text(_, at) | Sexp::Wide(at) | Sexp::List(_, at) => *at,
        }
    }

    pub fn word(&self) -> Option<&str> {
        match self {
            Sexp::Word(word, _) => Some(word),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Sexp]> {
        match self {
            Sexp::List(parts, _) => Some(parts),
            _ => None,
        }
    }
}

/// All expressions of a file.
pub fn parse(text: &[u8]) -> Result<Vec<Sexp>, SyntaxError> {
    let mut reader = Reader { text, at: 0 };
    let mut open: Vec<(Vec<Sexp>, usize)> = vec![(Vec::new(), 0)];
    while let Some(byte) = reader.next_token() {
        let at = reader.at;
        let sexp = match byte {
            b'(' => {
                reader.at += 1;
                open.push((Vec::new(), at));
                if open.len() > DEEPEST {
                    return Err(SyntaxError::at(text, at, "this is nested too deeply"));
                }
                continue;
            }
            b')' => {
                reader.at += 1;
                match open.pop() {
                    Some((parts, start)) if !open.is_empty() => Sexp::List(parts, start),
                    _ => {
                        return Err(SyntaxError::at(text, at, "expected an expression, found `)`"));
                    }
                }
            }
            b'"' => reader.string()?.map_or(Sexp::Wide(at), |string| Sexp::Text(string, at)),
            b'|' => Sexp::Word(reader.quoted()?, at),
            _ => Sexp::Word(reader.word(), at),
        };
        if let Some((parts, _)) = open.last_mut() {
            parts.push(sexp);
        }
    }
    match open.pop() {
        Some((parts, _)) if open.is_empty() => Ok(parts),
        Some((_, start)) => {
            Err(SyntaxError::at(text, start, "this parenthesis is not closed: expected `)`"))
        }
        None => Ok(Vec::new()),
    }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn next_token(&mut self) -> Option<u8> {
        loop {
            match self.text.get(self.at)? {
                byte if byte.is_ascii_whitespace() => self.at += 1,
                b';' => {
                    let rest = &self.text[self.at..];
                    self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                }
                &byte => return Some(byte),
            }
        }
    }

    fn word(&mut self) -> String {
        let rest = &self.text[self.at..];
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"()\";|".contains(byte);
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        self.at += length;
        String::from_utf8_lossy(&rest[..length]).into_owned()
    }

    fn quoted(&mut self) -> Result<String, SyntaxError> {
        let rest = &self.text[self.at + 1..];
        let Some(length) = rest.iter().position(|&byte| byte == b'|') else {
            return Err(SyntaxError::at(
                self.text,
                self.at,
                "this symbol is not closed: expected `|`",
            ));
        };
        self.at += length + 2;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    /// `""` is a quote; `\u{…}`, `\ud₃d₂d₁d₀` are characters. `None` if one is above 255.
    fn string(&mut self) -> Result<Option<Vec<u8>>, SyntaxError> {
        let start = self.at;
        let mut raw = Vec::new();
        self.at += 1;
        loop {
            match self.text.get(self.at) {
                None => {
                    return Err(SyntaxError::at(
                        self.text,
                        start,
                        "this string is not closed: expected `\"`",
                    ));
                }
                Some(b'"') if self.text.get(self.at + 1) == Some(&b'"') => self.at += 1,
                Some(b'"') => break,
                Some(_) => {}
            }
            raw.push(self.text[self.at]);
            self.at += 1;
        }
        self.at += 1;
        Ok(unescape(&raw))
    }
}

fn unescape(raw: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut at = 0;
    while at < raw.len() {
        let (digits, length) = match &raw[at..] {
            [b'\\', b'u', b'{', rest @ ..] => match rest.iter().position(|&byte| byte == b'}') {
                Some(length) => (&rest[..length], length + 4),
                None => (&rest[..0], 0),
            },
            [b'\\', b'u', rest @ ..] if rest.len() >= 4 => (&rest[..4], 6),
            _ => (&raw[..0], 0),
        };
        let code = std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match code {
            Some(code) => {
                text.push(u8::try_from(code).ok()?);
                at += length;
            }
            None => {
                text.push(raw[at]);
                at += 1;
            }
        }
    }
    Some(text)
}
