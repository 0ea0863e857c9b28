//! Smaller inputs that still do what matters, on bytes. What matters is for the caller to say: this
//! crate runs nothing, and has no clock.

/// Says whether a smaller input still does what matters; `None` where no more is to be asked.
pub type Holds<'a> = dyn FnMut(&[u8]) -> Option<bool> + 'a;

/// A way to make inputs smaller.
pub trait Shrinker {
    /// An input that is no longer and for which `holds` was true; the input itself if there is none.
    /// It soon ends when no more is to be asked: what it does in turn may each ask once more.
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
            match holds(&candidate) {
                Some(true) => smallest = candidate,
                Some(false) => {}
                None => return smallest,
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
        let mut candidates = (first + 1..input.len()).rev().map(without);
        // The first that holds, or about which nobody answers.
        let found = candidates.find_map(|candidate| match holds(&candidate) {
            Some(true) => Some(Some(candidate)),
            Some(false) => None,
            None => Some(None),
        });
        match found {
            Some(Some(smaller)) => input = smaller,
            Some(None) => return input,
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
        Bytes.shrink(input, &mut |text| Some(holds(text)))
    }

    #[test]
    fn nothing_is_asked_after_the_last_answer() {
        for answers in 0..20 {
            let (mut asked, mut last) = (0, b"abcdef".to_vec());
            let small = Bytes.shrink(b"abcdef", &mut |text| {
                asked += 1;
                let holds = (asked <= answers).then_some(asked % 4 == 0);
                if holds == Some(true) {
                    last = text.to_vec();
                }
                holds
            });
            assert!(asked <= answers + 2, "{asked} questions, {answers} answers");
            assert_eq!(small, last);
        }
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
