//! Random changes of bytes, as blackbox fuzzers stack them.

use fastrand::Rng;

use super::dictionary::Dictionary;

/// Values at which programs change their behaviour.
const INTERESTING: [i64; 16] =
    [0, 1, -1, 16, 32, 64, 100, 127, -128, 255, 256, 1024, 32767, -32768, 65535, i32::MAX as i64];

/// One change in so many is with the dictionary.
const DICTIONARY_ONE_IN: u32 = 32;

/// One change. `other` is an input that parts may be taken from.
pub(super) fn mutate(input: &mut Vec<u8>, other: &[u8], dictionary: &Dictionary, rng: &mut Rng) {
    if input.is_empty() {
        return insert(input, rng);
    }
    // Many of the numbers that a program compares are not what its input is made of.
    if rng.u32(0..DICTIONARY_ONE_IN) == 0 && !dictionary.is_empty() {
        return dictionary.apply(input, rng);
    }
    match rng.u32(0..10) {
        0 => flip_bit(input, rng),
        1 => set_byte(input, rng),
        2 => add_small(input, rng),
        3 => set_interesting(input, rng),
        4 | 5 => delete(input, rng),
        6 => copy_within(input, rng),
        7 => overwrite(input, rng),
        8 => splice(input, other, rng),
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

fn add_small(input: &mut [u8], rng: &mut Rng) {
    let place = rng.usize(0..input.len());
    let amount = rng.u8(1..=35);
    input[place] = if rng.bool() {
        input[place].wrapping_add(amount)
    } else {
        input[place].wrapping_sub(amount)
    };
}

/// Writes an interesting number of 1, 2, 4 or 8 bytes in either byte order.
fn set_interesting(input: &mut [u8], rng: &mut Rng) {
    let value = INTERESTING[rng.usize(0..INTERESTING.len())];
    let width = (1_usize << rng.u32(0..4)).min(input.len());
    let place = rng.usize(0..=input.len() - width);
    let mut bytes = value.to_le_bytes();
    if rng.bool() {
        bytes[..width].reverse();
    }
    input[place..place + width].copy_from_slice(&bytes[..width]);
}

fn delete(input: &mut Vec<u8>, rng: &mut Rng) {
    let (start, len) = block(input.len(), rng);
    input.drain(start..start + len);
}

fn copy_within(input: &mut Vec<u8>, rng: &mut Rng) {
    let (start, len) = block(input.len(), rng);
    let copy = input[start..start + len].to_vec();
    let place = rng.usize(0..=input.len());
    input.splice(place..place, copy);
}

fn overwrite(input: &mut [u8], rng: &mut Rng) {
    let (start, len) = block(input.len(), rng);
    let from = rng.usize(0..=input.len() - len);
    input.copy_within(from..from + len, start);
}

/// The head of this input and the tail of another.
fn splice(input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    input.truncate(rng.usize(0..=input.len()));
    input.extend_from_slice(&other[rng.usize(0..=other.len())..]);
}

fn insert(input: &mut Vec<u8>, rng: &mut Rng) {
    let place = rng.usize(0..=input.len());
    let byte = rng.u8(..);
    let len = 1 << rng.u32(0..4);
    input.splice(place..place, std::iter::repeat_n(byte, len));
}

/// A random non-empty block of a non-empty input; small blocks are likelier.
fn block(len: usize, rng: &mut Rng) -> (usize, usize) {
    let top = len.min(1 << rng.u32(0..8));
    let size = rng.usize(1..=top);
    (rng.usize(0..=len - size), size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutations_never_fail_and_do_something() {
        let mut rng = Rng::with_seed(7);
        let mut changed = 0;
        for round in 0..20_000_usize {
            let before: Vec<u8> = (0..round % 9).map(|i| i as u8).collect();
            let mut input = before.clone();
            mutate(&mut input, b"other", &Dictionary::default(), &mut rng);
            changed += usize::from(input != before);
        }
        assert!(changed > 15_000, "only {changed} inputs changed");
    }
}
