//! Comparisons of numbers that strings determine: lengths, positions, values of digits.
//!
//! Each comparison with a constant is a membership of the string in a language.

use crate::bytes::ByteSet;
use crate::language::{Language, Languages, UNBOUNDED};

/// A number that a string determines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measure {
    Length,
    /// Where the text first occurs, from a position on; -1 if nowhere.
    IndexOf(Vec<u8>, u64),
    /// The value of a string of digits; -1 for other strings.
    ToInt,
}

impl Measure {
    /// The strings whose number is at least `bound`.
    pub fn at_least(&self, languages: &mut Languages, bound: i128) -> Language {
        match self {
            Measure::Length => languages.lengths(clamp(bound), UNBOUNDED),
            _ if bound <= -1 => Languages::ALL,
            Measure::IndexOf(text, from) => index_at_least(languages, text, *from, clamp(bound)),
            Measure::ToInt => value_at_least(languages, bound),
        }
    }
}

fn clamp(bound: i128) -> u64 {
    u64::try_from(bound.max(0)).unwrap_or(UNBOUNDED - 1)
}

fn index_at_least(languages: &mut Languages, text: &[u8], from: u64, bound: u64) -> Language {
    let bound = bound.max(from);
    let text = languages.literal(text);
    let mut occurs = |least, most| {
        let before = languages.lengths(least, most);
        languages.concat_all([before, text, Languages::ALL])
    };
    let somewhere = occurs(from, UNBOUNDED);
    if bound == from {
        return somewhere;
    }
    let earlier = occurs(from, bound - 1);
    let not_earlier = languages.not(earlier);
    languages.and([somewhere, not_earlier])
}

fn value_at_least(languages: &mut Languages, bound: i128) -> Language {
    let digit = languages.bytes(ByteSet::range(b'0', b'9'));
    let number = languages.repeat(digit, 1, UNBOUNDED);
    let below = value_below(languages, &bound.to_string());
    let not_below = languages.not(below);
    languages.and([number, not_below])
}

/// Strings of digits with a value below that of `bound`, leading zeros included.
fn value_below(languages: &mut Languages, bound: &str) -> Language {
    let digits = bound.as_bytes();
    let digit = languages.bytes(ByteSet::range(b'0', b'9'));
    let mut options = vec![];
    if digits.len() > 1 {
        options.push(languages.repeat(digit, 1, digits.len() as u64 - 1));
    }
    for (i, &limit) in digits.iter().enumerate() {
        if limit > b'0' {
            let same = languages.literal(&digits[..i]);
            let smaller = languages.bytes(ByteSet::range(b'0', limit - 1));
            let rest = languages.repeat(
                digit,
                (digits.len() - i - 1) as u64,
                (digits.len() - i - 1) as u64,
            );
            options.push(languages.concat_all([same, smaller, rest]));
        }
    }
    let zero = languages.literal(b"0");
    let zeros = languages.star(zero);
    let shorter = languages.or(options);
    languages.concat(zeros, shorter)
}
