//! Shorter inputs that take the same outcomes about as often: in a shorter input more changes meet
//! what matters.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::Hits;

/// Shorter inputs are not trimmed.
pub(super) const SHORTEST: usize = 5;
/// The first pieces that are left out are this part of the input, and the last.
const FIRST_PART: usize = 8;
const LAST_PART: usize = 32;

/// What is known about an entry of which pieces are being left out.
#[derive(Debug)]
pub(super) struct Trim {
    pub entry: usize,
    input: Vec<u8>,
    signature: u64,
    /// Length of the pieces, where the next one starts, and how long the last ones are.
    piece: usize,
    start: usize,
    least: usize,
}

impl Trim {
    /// Of an entry whose run has this [`signature`].
    pub(super) fn new(entry: usize, input: &[u8], signature: u64) -> Trim {
        let piece = (input.len() / FIRST_PART).max(1);
        let least = (input.len() / LAST_PART).max(1);
        Trim { entry, input: input.to_vec(), signature, piece, start: 0, least }
    }

    /// The input without one more piece; `None` if all were left out once.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        if self.start >= self.input.len() {
            if self.piece <= self.least {
                return None;
            }
            (self.piece, self.start) = ((self.piece / 2).max(self.least), 0);
        }
        if self.input.len() <= self.piece {
            return None;
        }
        let end = (self.start + self.piece).min(self.input.len());
        Some([&self.input[..self.start], &self.input[end..]].concat())
    }

    /// Whether the shorter input does the same, which is then the one to go on with.
    pub(super) fn learn(&mut self, shorter: &[u8], hits: Hits<'_>) -> bool {
        let is_same = signature(hits) == self.signature;
        match is_same {
            true => self.input = shorter.to_vec(),
            false => self.start += self.piece,
        }
        is_same
    }
}

/// Of the outcomes that a run took, and of about how often.
pub(super) fn signature(hits: Hits<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    for (outcome, bucket) in hits.buckets() {
        hasher.write_u64(u64::from(outcome) << 8 | u64::from(bucket));
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(input: &[u8], letter: u8) -> u8 {
        input.iter().filter(|byte| **byte == letter).count() as u8
    }

    /// A program that looks for the letters `x` and `y`.
    fn with_hits<T>(input: &[u8], then: impl FnOnce(Hits<'_>) -> T) -> T {
        then(Hits { outcomes: &[0, 1], counts: &[b'x', b'y'].map(|letter| count(input, letter)) })
    }

    #[test]
    fn what_makes_no_difference_is_left_out() {
        let input = b"....x......................y....y..........x..........y...............";
        let mut trim = Trim::new(0, input, with_hits(input, signature));
        let mut runs = 0;
        while let Some(shorter) = trim.next() {
            assert!(shorter.len() < trim.input.len());
            with_hits(&shorter, |hits| trim.learn(&shorter, hits));
            runs += 1;
        }
        assert_eq!([b'x', b'y'].map(|letter| count(&trim.input, letter)), [2, 3]);
        assert!(trim.input.len() <= 15, "{:?}", String::from_utf8_lossy(&trim.input));
        assert!(runs < 60, "{runs}");
    }

    #[test]
    fn an_input_of_which_all_matters_stays() {
        let input = b"xyxyxyxyxy";
        let mut trim = Trim::new(0, input, signature(Hits::default()));
        let other = Hits { outcomes: &[1], counts: &[1] };
        while let Some(shorter) = trim.next() {
            assert!(!trim.learn(&shorter, other));
        }
        assert_eq!(trim.input, input);
    }
}
