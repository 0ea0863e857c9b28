//! Random changes of bytes, as blackbox fuzzers stack them.

use std::ops::Range;

use fastrand::Rng;

use super::dictionary::Dictionary;
use super::text;

/// What changes may take from elsewhere.
#[derive(Clone, Copy)]
pub(super) struct Donors<'a> {
    /// Another input.
    pub other: &'a [u8],
    pub dictionary: &'a Dictionary,
}

type Change = fn(&mut Vec<u8>, Donors<'_>, &mut Rng);

/// A change that stands here twice comes twice as often.
const CHANGES: [Change; 26] = [
    |input, _, rng| flip_bit(input, rng),
    |input, _, rng| set_byte(input, rng),
    |input, _, rng| add_small(input, rng),
    |input, _, rng| add_wide(input, rng),
    |input, _, rng| set_interesting(input, rng),
    |input, _, rng| delete(input, rng),
    |input, _, rng| delete(input, rng),
    |input, _, rng| delete(input, rng),
    |input, _, rng| delete_byte(input, rng),
    |input, _, rng| copy_within(input, rng),
    |input, _, rng| copy_within(input, rng),
    |input, _, rng| overwrite(input, rng),
    |input, _, rng| overwrite(input, rng),
    |input, _, rng| fill(input, rng),
    |input, _, rng| insert(input, rng),
    |input, _, rng| insert_known(input, rng),
    |input, _, rng| swap(input, rng),
    |input, donors, rng| splice(input, donors.other, rng),
    |input, donors, rng| take_block(input, donors.other, rng),
    |input, donors, rng| take_block(input, donors.other, rng),
    |input, donors, rng| put_word(input, donors, rng),
    |input, donors, rng| put_word(input, donors, rng),
    |input, _, rng| text::change_number(input, rng),
    |input, _, rng| text::change_number(input, rng),
    |input, donors, rng| text::replace_word(input, donors, rng),
    |input, donors, rng| text::copy_unit(input, donors.other, rng),
];

/// One change in so many is with a number that the program compares: many of these are not what its
/// input is made of.
const NUMBER_ONE_IN: u32 = 32;

/// Values at which programs change their behaviour.
pub(super) const INTERESTING: [i64; 16] =
    [0, 1, -1, 16, 32, 64, 100, 127, -128, 255, 256, 1024, 32767, -32768, 65535, i32::MAX as i64];

/// One change.
pub(super) fn mutate(input: &mut Vec<u8>, donors: Donors<'_>, rng: &mut Rng) {
    if input.is_empty() {
        return insert_anything(input, donors, rng);
    }
    if donors.dictionary.has_numbers() && rng.u32(0..NUMBER_ONE_IN) == 0 {
        let number = donors.dictionary.number(rng).unwrap_or_default();
        return put(input, &number, rng);
    }
    CHANGES[rng.usize(0..CHANGES.len())](input, donors, rng)
}

fn insert_anything(input: &mut Vec<u8>, donors: Donors<'_>, rng: &mut Rng) {
    match rng.u32(0..3) {
        0 => put_word(input, donors, rng),
        1 => take_block(input, donors.other, rng),
        _ => insert(input, rng),
    }
}

fn flip_bit(input: &mut [u8], rng: &mut Rng) {
    let place = rng.usize(0..input.len());
    input[place] ^= 1 << rng.u32(0..8);
}

fn set_byte(input: &mut [u8], rng: &mut Rng) {
    let place = rng.usize(0..input.len());
    input[place] = rng.u8(..);
}

/// The largest amount that is added to a number.
const SMALL: u8 = 35;

fn add_small(input: &mut [u8], rng: &mut Rng) {
    let place = rng.usize(0..input.len());
    let amount = rng.u8(1..=SMALL);
    input[place] = if rng.bool() {
        input[place].wrapping_add(amount)
    } else {
        input[place].wrapping_sub(amount)
    };
}

/// Adds to a number of 2, 4 or 8 bytes in either byte order.
fn add_wide(input: &mut [u8], rng: &mut Rng) {
    let (place, width) = number_place(input.len(), 1 + rng.u32(0..3), rng);
    let mut bytes = [0; 8];
    bytes[..width].copy_from_slice(&input[place..place + width]);
    let is_big = rng.bool();
    if is_big {
        bytes[..width].reverse();
    }
    let amount = u64::from(rng.u8(1..=SMALL));
    let number = u64::from_le_bytes(bytes);
    let sum = if rng.bool() { number.wrapping_add(amount) } else { number.wrapping_sub(amount) };
    bytes = sum.to_le_bytes();
    if is_big {
        bytes[..width].reverse();
    }
    input[place..place + width].copy_from_slice(&bytes[..width]);
}

/// Writes an interesting number of 1, 2, 4 or 8 bytes in either byte order.
fn set_interesting(input: &mut [u8], rng: &mut Rng) {
    let value = INTERESTING[rng.usize(0..INTERESTING.len())];
    let (place, width) = number_place(input.len(), rng.u32(0..4), rng);
    let mut bytes = value.to_le_bytes();
    if rng.bool() {
        bytes[..width].reverse();
    }
    input[place..place + width].copy_from_slice(&bytes[..width]);
}

/// Where a number of two to the power of `log` bytes may be, and how many bytes there are for it.
fn number_place(len: usize, log: u32, rng: &mut Rng) -> (usize, usize) {
    let width = (1_usize << log).min(len);
    (rng.usize(0..=len - width), width)
}

fn delete(input: &mut Vec<u8>, rng: &mut Rng) {
    input.drain(block(input.len(), rng));
}

fn delete_byte(input: &mut Vec<u8>, rng: &mut Rng) {
    input.remove(rng.usize(0..input.len()));
}

fn copy_within(input: &mut Vec<u8>, rng: &mut Rng) {
    let copy = input[block(input.len(), rng)].to_vec();
    let place = rng.usize(0..=input.len());
    input.splice(place..place, copy);
}

fn overwrite(input: &mut [u8], rng: &mut Rng) {
    let to = block(input.len(), rng);
    let from = rng.usize(0..=input.len() - to.len());
    input.copy_within(from..from + to.len(), to.start);
}

/// One byte over a whole block, mostly one that the input has.
fn fill(input: &mut [u8], rng: &mut Rng) {
    let byte = if rng.bool() { rng.u8(..) } else { input[rng.usize(0..input.len())] };
    let block = block(input.len(), rng);
    input[block].fill(byte);
}

fn insert(input: &mut Vec<u8>, rng: &mut Rng) {
    let place = rng.usize(0..=input.len());
    let byte = rng.u8(..);
    let len = 1 << rng.u32(0..4);
    input.splice(place..place, std::iter::repeat_n(byte, len));
}

/// A byte that the input has, or one that can be printed.
fn insert_known(input: &mut Vec<u8>, rng: &mut Rng) {
    let byte = if rng.bool() { rng.u8(b' '..=b'~') } else { input[rng.usize(0..input.len())] };
    input.insert(rng.usize(0..=input.len()), byte);
}

/// A block and what follows it change places.
fn swap(input: &mut [u8], rng: &mut Rng) {
    let first = block(input.len(), rng);
    let end = (first.end + rng.usize(0..=first.len())).min(input.len());
    input[first.start..end].rotate_left(first.len());
}

/// The head of this input and the tail of another.
fn splice(input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    input.truncate(rng.usize(0..=input.len()));
    input.extend_from_slice(&other[rng.usize(0..=other.len())..]);
}

/// A block of another input.
fn take_block(input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    if !other.is_empty() {
        put(input, &other[block(other.len(), rng)], rng);
    }
}

fn put_word(input: &mut Vec<u8>, donors: Donors<'_>, rng: &mut Rng) {
    if let Some(word) = donors.dictionary.word(rng) {
        put(input, word, rng);
    }
}

/// Writes bytes over those of an input, or between them.
pub(super) fn put(input: &mut Vec<u8>, bytes: &[u8], rng: &mut Rng) {
    let start = rng.usize(0..=input.len());
    let end = if rng.bool() { start } else { (start + bytes.len()).min(input.len()) };
    input.splice(start..end, bytes.iter().copied());
}

/// A random non-empty block of a non-empty input; small blocks are likelier.
fn block(len: usize, rng: &mut Rng) -> Range<usize> {
    let top = len.min(1 << rng.u32(0..8));
    let size = rng.usize(1..=top);
    let start = rng.usize(0..=len - size);
    start..start + size
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inputs that one change each made of this one.
    fn changed(input: &[u8], other: &[u8], words: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut dictionary = Dictionary::default();
        words.iter().for_each(|word| dictionary.learn(word));
        let mut rng = Rng::with_seed(7);
        let donors = Donors { other, dictionary: &dictionary };
        (0..20_000)
            .map(|_| {
                let mut input = input.to_vec();
                mutate(&mut input, donors, &mut rng);
                input
            })
            .collect()
    }

    #[test]
    fn mutations_never_fail_and_do_something() {
        for len in 0..9 {
            let before: Vec<u8> = (0..len).map(|byte| byte * 7).collect();
            let inputs = changed(&before, b"other", &[b"word"]);
            let same = inputs.iter().filter(|input| **input == before).count();
            assert!(same < inputs.len() / 3, "{same} of length {len} are the same");
        }
    }

    #[test]
    fn each_kind_of_change_happens() {
        let inputs = changed(b"if (x1 == 250) { y }", b"<other>", &[b"while"]);
        let expected = [
            ("a number, one more", "if (x1 == 251) { y }"),
            ("with a sign", "if (x1 == -250) { y }"),
            ("another word in the place of one", "while (x1 == 250) { y }"),
            ("in the place of a name", "if (while == 250) { y }"),
            ("brackets twice", "if (x1 == 250) { y }{ y }"),
            ("a byte less", "if (x1 == 250)  y }"),
            ("a block less", "if (x1 == 250) { "),
            ("the other one alone", "<other>"),
            ("brackets of the other", "if (x1 == 250) { y <other>}"),
            ("a word between", "if (x1 == 250) { y while}"),
            ("two bytes swapped", "if (x1 == 250) { y} "),
        ];
        for (what, expected) in expected {
            assert!(inputs.iter().any(|input| input == expected.as_bytes()), "{what}");
        }
    }

    #[test]
    fn numbers_change_in_both_byte_orders() {
        let inputs = changed(&[0, 0, 1, 0, 0], &[], &[]);
        for expected in [[0, 0, 1, 1, 0], [0, 0, 0, 255, 0], [0, 255, 0, 0, 0], [0, 0, 1, 0, 255]] {
            assert!(inputs.iter().any(|input| *input == expected), "{expected:?}");
        }
    }
}
