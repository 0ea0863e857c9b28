//! Changes of what text is made of: numbers in decimal digits, words, lines and brackets.

use std::ops::Range;

use fastrand::Rng;

use super::havoc::{Donors, INTERESTING, put};

/// Digits of the longest number that is read.
const LONGEST_NUMBER: usize = 18;

/// Another number in the place of one.
pub(super) fn change_number(input: &mut Vec<u8>, rng: &mut Rng) {
    let Some(place) = run_at(input, rng, |byte| byte.is_ascii_digit()) else { return };
    let place = place.start..place.end.min(place.start + LONGEST_NUMBER);
    let digits = input[place.clone()].iter();
    let number = digits.fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
    let other = match rng.u32(0..8) {
        0 => number + 1,
        1 => number - 1,
        2 => number.wrapping_mul(2),
        3 => number / 2,
        4 => -number,
        5 => INTERESTING[rng.usize(0..INTERESTING.len())],
        6 => i64::from(rng.u8(..)),
        _ => 1 << rng.u32(0..63),
    };
    input.splice(place, other.to_string().into_bytes());
}

/// A word of the dictionary, of another input or of the same one in the place of one.
pub(super) fn replace_word(input: &mut Vec<u8>, donors: Donors<'_>, rng: &mut Rng) {
    let Some(place) = run_at(input, rng, is_of_word) else { return };
    let word_of = |from: &[u8], rng: &mut Rng| {
        run_at(from, rng, is_of_word).map(|place| from[place].to_vec())
    };
    let word = match rng.u32(0..4) {
        0 => word_of(input, rng),
        1 => word_of(donors.other, rng),
        _ => donors.dictionary.word(rng).map(<[u8]>::to_vec),
    };
    if let Some(word) = word {
        input.splice(place, word);
    }
}

/// A line or a pair of brackets, of this input or another, put somewhere.
pub(super) fn copy_unit(input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let from = if rng.bool() { &input[..] } else { other };
    let unit = if rng.bool() { line_at(from, rng) } else { brackets_at(from, rng) };
    let Some(unit) = unit.map(|unit| from[unit].to_vec()) else { return };
    let place = if rng.bool() { line_at(input, rng) } else { brackets_at(input, rng) };
    match place {
        Some(place) if rng.bool() => drop(input.splice(place, unit)),
        Some(place) => drop(input.splice(place.end..place.end, unit)),
        None => put(input, &unit, rng),
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The first longest run of such bytes from a random place on, or before it if there is none.
fn run_at(input: &[u8], rng: &mut Rng, belongs: impl Fn(u8) -> bool) -> Option<Range<usize>> {
    let from = if input.is_empty() { 0 } else { rng.usize(0..input.len()) };
    let (before, after) = input.split_at(from);
    let found = after.iter().position(|byte| belongs(*byte)).map(|at| from + at);
    let inside = found.or_else(|| before.iter().position(|byte| belongs(*byte)))?;
    let start = input[..inside].iter().rposition(|byte| !belongs(*byte)).map_or(0, |at| at + 1);
    let len = input[inside..].iter().position(|byte| !belongs(*byte));
    Some(start..len.map_or(input.len(), |len| inside + len))
}

/// The line of a random place, its end included.
fn line_at(input: &[u8], rng: &mut Rng) -> Option<Range<usize>> {
    let inside = (!input.is_empty()).then(|| rng.usize(0..input.len()))?;
    let start = input[..inside].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let len = input[inside..].iter().position(|byte| *byte == b'\n');
    Some(start..len.map_or(input.len(), |len| inside + len + 1))
}

/// From the first opening bracket after a random place to its closing one.
fn brackets_at(input: &[u8], rng: &mut Rng) -> Option<Range<usize>> {
    let from = (!input.is_empty()).then(|| rng.usize(0..input.len()))?;
    let start = from + input[from..].iter().position(|byte| b"([{<".contains(byte))?;
    let open = input[start];
    let close = if open == b'(' { b')' } else { open + 2 };
    let mut depth = 0_usize;
    for (at, byte) in (start..).zip(&input[start..]) {
        depth += usize::from(*byte == open);
        if *byte == close {
            depth -= 1;
            if depth == 0 {
                return Some(start..at + 1);
            }
        }
    }
    None
}
