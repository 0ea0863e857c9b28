//! Outputs token by token: where two of them part, with or without a tolerance for numbers.

use std::iter::Peekable;
use std::str::FromStr;

use serde::Serialize;

/// What stands at a place of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenKind {
    Number,
    Word,
    Space,
    Sign,
    /// The output ends here.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token<'t> {
    pub kind: TokenKind,
    pub text: &'t [u8],
}

const END: Token<'static> = Token { kind: TokenKind::End, text: b"" };

/// Where two outputs part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Parted<'t> {
    pub a: Token<'t>,
    pub b: Token<'t>,
    /// Of the first output, from 1.
    pub line: usize,
}

/// The first tokens in which two outputs differ; numbers within the tolerance are equal.
pub(crate) fn part<'t>(a: &'t [u8], b: &'t [u8], tolerance: Option<f64>) -> Option<Parted<'t>> {
    if a == b {
        return None;
    }
    let (mut ours, mut theirs) = (Tokens(a), Tokens(b));
    loop {
        let before = &a[..a.len() - ours.0.len()];
        let (one, other) = (ours.next(), theirs.next());
        if one.is_none() && other.is_none() {
            return None;
        }
        let (one, other) = (one.unwrap_or(END), other.unwrap_or(END));
        if !is_equal(one, other, tolerance) {
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            return Some(Parted { a: one, b: other, line });
        }
    }
}

fn is_equal(a: Token<'_>, b: Token<'_>, tolerance: Option<f64>) -> bool {
    let numbers = (a.kind, b.kind) == (TokenKind::Number, TokenKind::Number);
    let close = || Some(is_close(number(a.text)?, number(b.text)?, tolerance?));
    a == b || numbers && close().unwrap_or(false)
}

/// `|a - b| <= tolerance * max(1, |a|, |b|)`
fn is_close(a: f64, b: f64, tolerance: f64) -> bool {
    // Numbers too large for a float are both infinite.
    a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0) && (a - b).is_finite()
}

fn number(text: &[u8]) -> Option<f64> {
    f64::from_str(str::from_utf8(text).ok()?).ok()
}

struct Tokens<'t>(&'t [u8]);

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        let first = *self.0.first()?;
        let run = |is: fn(&u8) -> bool| self.0.iter().take_while(|byte| is(byte)).count();
        let (kind, len) = match numeral(self.0) {
            Some(len) => (TokenKind::Number, len),
            None if is_word(&first) => (TokenKind::Word, run(is_word)),
            None if first.is_ascii_whitespace() => (TokenKind::Space, run(u8::is_ascii_whitespace)),
            None => (TokenKind::Sign, 1),
        };
        let (text, rest) = self.0.split_at(len);
        self.0 = rest;
        Some(Token { kind, text })
    }
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii()
}

/// The length of a decimal numeral at the start: sign, digits with a point, exponent.
fn numeral(text: &[u8]) -> Option<usize> {
    let mut bytes = text.iter().copied().peekable();
    let sign = take(&mut bytes, |byte| byte == b'-' || byte == b'+', 1);
    let whole = take(&mut bytes, |byte| byte.is_ascii_digit(), usize::MAX);
    let mut len = sign + whole;
    let mut digits = whole;
    if bytes.peek() == Some(&b'.') {
        bytes.next();
        let fraction = take(&mut bytes, |byte| byte.is_ascii_digit(), usize::MAX);
        if fraction > 0 || whole > 0 {
            len += 1 + fraction;
            digits += fraction;
        }
    }
    if digits == 0 {
        return None;
    }
    Some(len + exponent(&text[len..]))
}

/// `e-5`; 0 if there is none.
fn exponent(text: &[u8]) -> usize {
    let mut bytes = text.iter().copied().peekable();
    let mark = take(&mut bytes, |byte| byte == b'e' || byte == b'E', 1);
    let sign = take(&mut bytes, |byte| byte == b'-' || byte == b'+', 1);
    match (mark, take(&mut bytes, |byte| byte.is_ascii_digit(), usize::MAX)) {
        (0, _) | (_, 0) => 0,
        (_, digits) => mark + sign + digits,
    }
}

fn take(bytes: &mut Peekable<impl Iterator<Item = u8>>, is: fn(u8) -> bool, most: usize) -> usize {
    let mut taken = 0;
    while taken < most && bytes.next_if(|byte| is(*byte)).is_some() {
        taken += 1;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        let text_of = |token: Token<'_>| (token.kind, token.text.len());
        let mut at = 0;
        let mut list = Vec::new();
        for (kind, len) in Tokens(text.as_bytes()).map(text_of) {
            list.push((kind, &text[at..at + len]));
            at += len;
        }
        assert_eq!(at, text.len(), "tokens cover the text");
        list
    }

    #[test]
    fn numerals_are_tokens() {
        use TokenKind::{Number, Sign, Space, Word};
        assert_eq!(kinds("-1.5e-3,x2"), [(Number, "-1.5e-3"), (Sign, ","), (Word, "x2")]);
        assert_eq!(
            kinds("1. .5 ."),
            [(Number, "1."), (Space, " "), (Number, ".5"), (Space, " "), (Sign, ".")]
        );
        assert_eq!(
            kinds("1e+ 0x1f"),
            [(Number, "1"), (Word, "e"), (Sign, "+"), (Space, " "), (Number, "0"), (Word, "x1f")]
        );
        assert_eq!(kinds("-nan"), [(Sign, "-"), (Word, "nan")]);
    }

    #[test]
    fn numbers_are_equal_within_the_tolerance() {
        let part = |a: &str, b: &str, tolerance| {
            part(a.as_bytes(), b.as_bytes(), tolerance).map(|at| (at.a.kind, at.b.kind))
        };
        assert_eq!(part("x 1.0 y", "x 1.0000001 y", Some(1e-6)), None);
        assert_eq!(part("1000000", "1e+06", Some(1e-6)), None);
        assert_eq!(part("1e9", "1000000001", Some(1e-6)), None, "relative to large numbers");
        let numbers = Some((TokenKind::Number, TokenKind::Number));
        assert_eq!(part("1.0", "1.0000001", None), numbers);
        assert_eq!(part("1.0", "1.1", Some(1e-6)), numbers);
        assert_eq!(part("1e999", "5", Some(1e-6)), numbers);
        assert_eq!(part("1", "1x", Some(1e-6)), Some((TokenKind::End, TokenKind::Word)));
        assert_eq!(part("1\n", "1", None), Some((TokenKind::Space, TokenKind::End)));
    }
}
