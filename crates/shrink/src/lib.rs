//! Smaller inputs that still do what matters, on bytes. What matters is for the caller to say: this
//! crate runs nothing, and has no clock.

/// Says whether a smaller input still does what matters.
pub type Holds<'a> = dyn FnMut(&[u8]) -> bool + 'a;

/// A way to make inputs smaller.
pub trait Shrinker {
    /// An input that is no longer and for which `holds` was true; the input itself if there is none.
    /// It never asks about the input itself. Once `holds` answers no more but false, it soon ends.
    fn shrink(&mut self, input: &[u8], holds: &mut Holds<'_>) -> Vec<u8>;
}

/// Removes bytes: chunks, large ones first, then pairs that can go only together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bytes;

impl Shrinker for Bytes {
    fn shrink(&mut self, input: &[u8], holds: &mut Holds<'_>) -> Vec<u8> {
        pairs(chunks(input, holds), holds)
    }
}

/// Without chunks of bytes, large ones first.
pub fn chunks(input: &[u8], holds: &mut Holds<'_>) -> Vec<u8> {
    let mut smallest = input.to_vec();
    let mut size = smallest.len().div_ceil(2);
    while size > 0 {
        let before = smallest.len();
        // From the end, where less depends on what is removed.
        let mut end = smallest.len();
        while end > 0 {
            let start = end.saturating_sub(size);
            let candidate = [&smallest[..start], &smallest[end..]].concat();
            if holds(&candidate) {
                smallest = candidate;
            }
            end = start;
        }
        // What was removed may have kept something else in its place.
        if smallest.len() == before || size > 1 {
            size /= 2;
        }
    }
    smallest
}

/// The longest input in which pairs are looked for: their number is the square.
const PAIRED: usize = 64;

/// Without pairs of bytes, such as brackets.
pub fn pairs(mut input: Vec<u8>, holds: &mut Holds<'_>) -> Vec<u8> {
    let mut first = 0;
    while first < input.len() && input.len() <= PAIRED {
        let without =
            |last: usize| [&input[..first], &input[first + 1..last], &input[last + 1..]].concat();
        let found = (first + 1..input.len()).rev().map(without).find(|candidate| holds(candidate));
        match found {
            Some(smaller) => input = smaller,
            None => first += 1,
        }
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shrink(input: &[u8], mut holds: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
        Bytes.shrink(input, &mut holds)
    }

    #[test]
    fn what_matters_stays() {
        let has_both = |input: &[u8]| input.contains(&b'x') && input.contains(&b'y');
        assert_eq!(shrink(b"aaaxbbbbbbbyccc", has_both), b"xy");
        assert_eq!(shrink(b"", |_| true), b"");
        assert_eq!(shrink(b"abc", |_| true), b"");
        assert_eq!(shrink(b"abc", |_| false), b"abc");
    }

    #[test]
    fn brackets_go_together() {
        let is_nested = |input: &[u8]| {
            let depth = input.iter().take_while(|byte| **byte == b'[').count();
            depth > 1 && input == [b"[".repeat(depth), b"x".to_vec(), b"]".repeat(depth)].concat()
        };
        assert_eq!(shrink(b"[[[[x]]]]", is_nested), b"[[x]]");
    }

    /// The last byte can go only after the first one, which is tried later.
    #[test]
    fn single_bytes_are_tried_again() {
        assert_eq!(shrink(b"ab", |input| input != b"a"), b"");
    }

    proptest! {
        /// The result is the last that was asked for and held, and no single byte of it can go.
        #[test]
        fn the_result_held(input in prop::collection::vec(0..4_u8, 0..40), wanted in 0..4_u8) {
            let count = |text: &[u8]| text.iter().filter(|byte| **byte == wanted).count();
            let least = count(&input).min(3);
            let small = shrink(&input, |text| count(text) >= least);
            prop_assert_eq!(small, vec![wanted; least]);
        }
    }
}
