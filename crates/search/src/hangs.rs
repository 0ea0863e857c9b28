//! Which inputs probably run for ever.
//!
//! A program that runs programs is given endless loops all the time: whatever contains the
//! construct hangs, wherever it stands. Each such run costs as much as many others and says nothing
//! new. So it is learnt which words hanging inputs have that others have not. While hangs take more
//! than their part of the time, inputs with such words are left out, but for one in a few: a
//! program may also end on them, and only runs can tell.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

/// Hangs that bring nothing may take one part in so many of the time of all runs.
const SHARE: u32 = 10;
/// Hangs of inputs with a word before it is believed.
const FEW: u32 = 4;
/// Of what is left out, one in so many is run all the same.
const ONE_IN: u64 = 16;
/// Bytes of an input that are looked at, and words that are remembered.
const MAX_BYTES: usize = 512;
const MAX_WORDS: usize = 1 << 16;

#[derive(Clone, Copy, Default)]
struct Count {
    runs: u32,
    hangs: u32,
}

impl Count {
    /// Most runs hang.
    fn is_bad(self) -> bool {
        self.hangs >= FEW && self.hangs * 4 >= self.runs * 3
    }
}

#[derive(Default)]
pub(crate) struct Hangs {
    words: FxHashMap<u64, Count>,
    all: Count,
    /// Time of runs that hung and brought nothing, and of all.
    lost: Duration,
    total: Duration,
    suspects: u64,
}

impl Hangs {
    /// A run took so long; `hung` if it did not end and brought nothing.
    pub(crate) fn learn(&mut self, input: &[u8], hung: bool, time: Duration) {
        self.total += time;
        self.lost += if hung { time } else { Duration::ZERO };
        self.all.hangs += u32::from(hung);
        // Most programs never hang, and theirs need not be looked at.
        if self.all.hangs == 0 {
            return;
        }
        self.all.runs += 1;
        for word in words(input) {
            if self.words.len() < MAX_WORDS || self.words.contains_key(&word) {
                let count = self.words.entry(word).or_default();
                count.runs += 1;
                count.hangs += u32::from(hung);
            }
        }
    }

    /// Whether an input is better left out.
    pub(crate) fn expects(&mut self, input: &[u8]) -> bool {
        let costs_too_much = self.lost * SHARE > self.total;
        // Where most inputs hang, words are not the reason.
        let is_usual = self.all.hangs * 2 > self.all.runs;
        if !costs_too_much || is_usual || !words(input).iter().any(|word| self.is_bad(*word)) {
            return false;
        }
        self.suspects += 1;
        !self.suspects.is_multiple_of(ONE_IN)
    }

    fn is_bad(&self, word: u64) -> bool {
        self.words.get(&word).is_some_and(|count| count.is_bad())
    }
}

/// Hashes of the bytes, the words, and the pairs of neighbouring words of an input. A word is a
/// name, a number, or any other byte but a space.
fn words(input: &[u8]) -> FxHashSet<u64> {
    let input = &input[..input.len().min(MAX_BYTES)];
    let mut found: FxHashSet<u64> = input.iter().map(|byte| hash_of(&[*byte])).collect();
    let mut last: &[u8] = &[];
    for word in input.chunk_by(|a, b| class(*a) == class(*b) && class(*a) != Class::Other) {
        if class(word[0]) != Class::Space {
            found.extend([hash_of(word), hash_of(&(last, word))]);
            last = word;
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Name,
    Number,
    Space,
    Other,
}

fn class(byte: u8) -> Class {
    match byte {
        b'_' => Class::Name,
        _ if byte.is_ascii_alphabetic() => Class::Name,
        _ if byte.is_ascii_digit() => Class::Number,
        _ if byte.is_ascii_whitespace() => Class::Space,
        _ => Class::Other,
    }
}

fn hash_of<T: Hash + ?Sized>(word: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Duration = Duration::from_millis(1);

    fn taught(others: u32, hang: &[u8]) -> Hangs {
        let mut hangs = Hangs::default();
        for _ in 0..FEW {
            hangs.learn(hang, true, RUN * 20);
            (0..others).for_each(|_| hangs.learn(b"while (i < 3) i = i + 1; print(1)", false, RUN));
        }
        hangs
    }

    #[test]
    fn words_of_hanging_inputs_are_avoided_but_for_a_few() {
        let mut hangs = taught(8, b"i = 2; while (1) print(i)");
        let run = (0..160).filter(|_| !hangs.expects(b"x = 7; while (1) x = 3")).count();
        assert_eq!(run as u64, 160 / ONE_IN);
        assert!(!hangs.expects(b"while (i < 9) i = 7"), "words that others have");
    }

    #[test]
    fn cheap_hangs_are_left_alone() {
        let mut hangs = taught(300, b"for (;;) ;");
        assert!(!hangs.expects(b"for (;;) ;"));
    }

    #[test]
    fn where_everything_hangs_no_word_is_the_reason() {
        let mut hangs = taught(0, b"a");
        assert!(!hangs.expects(b"a"));
    }
}
