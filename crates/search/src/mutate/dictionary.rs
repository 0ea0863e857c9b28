//! What the program compares its input with: the cases of its switches, the numbers in its
//! conditions, its strings, and what traces tell. Random bytes hardly ever meet them, but for
//! numbers of one byte, of which more would only crowd out others.

use std::collections::BTreeSet;

use fastrand::Rng;
use rustc_hash::FxHashSet;
use sites::{SiteKind, SiteTable};

/// Words that are learnt at most, and the longest.
const MAX_WORDS: usize = 4096;
const LONGEST: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Dictionary {
    numbers: Vec<u64>,
    words: Vec<Vec<u8>>,
    known: FxHashSet<Vec<u8>>,
}

impl Dictionary {
    /// Of the program that has these sites.
    pub(super) fn of(sites: &SiteTable) -> Dictionary {
        let cases = sites.sites.iter().flat_map(|site| match &site.kind {
            SiteKind::Switch { cases, .. } => &cases[..],
            SiteKind::Plain | SiteKind::Branch { .. } => &[],
        });
        let numbers = cases.chain(sites.compared.values()).copied();
        let numbers: BTreeSet<u64> = numbers.filter(|number| width(*number) > 1).collect();
        let numbers = numbers.into_iter().collect();
        let mut dictionary = Dictionary { numbers, ..Dictionary::default() };
        sites.words.iter().for_each(|word| dictionary.learn(word.as_bytes()));
        dictionary
    }

    /// The program compares with this, too.
    pub(super) fn learn(&mut self, word: &[u8]) {
        let fits = (2..=LONGEST).contains(&word.len()) && self.words.len() < MAX_WORDS;
        if fits && self.known.insert(word.to_vec()) {
            self.words.push(word.to_vec());
        }
    }

    pub(super) fn has_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// One of the words; `None` if there are none.
    pub(super) fn word(&self, rng: &mut Rng) -> Option<&[u8]> {
        (!self.words.is_empty()).then(|| &self.words[rng.usize(0..self.words.len())][..])
    }

    /// One of the numbers in as few bytes as it needs, in either byte order; sometimes its
    /// neighbour, where limits lie. `None` if there are none.
    pub(super) fn number(&self, rng: &mut Rng) -> Option<Vec<u8>> {
        if self.numbers.is_empty() {
            return None;
        }
        let number = self.numbers[rng.usize(0..self.numbers.len())];
        let near = match rng.u32(0..8) {
            0 => number.wrapping_add(1),
            1 => number.wrapping_sub(1),
            _ => number,
        };
        let mut bytes = near.to_le_bytes()[..width(near)].to_vec();
        if rng.bool() {
            bytes.reverse();
        }
        Some(bytes)
    }
}

/// 1, 2, 4 or 8 bytes; a small negative number has the width of its amount.
fn width(number: u64) -> usize {
    let amount = number.min((!number).saturating_add(1));
    match amount {
        0..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFFFF_FFFF => 4,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sites::Site;

    #[test]
    fn cases_and_compared_numbers_are_known() {
        let kind = SiteKind::Switch { coverage: 0, cases: vec![0x4142, 0x707] };
        let mut sites = SiteTable {
            sites: vec![Site::default(), Site { kind, ..Site::default() }],
            ..SiteTable::default()
        };
        sites.compared.insert(1, 0xDEAD_BEEF);
        let dictionary = Dictionary::of(&sites);
        let mut rng = Rng::with_seed(1);
        let drawn: Vec<Vec<u8>> = (0..500).filter_map(|_| dictionary.number(&mut rng)).collect();
        let numbers: [&[u8]; 5] = [b"AB", b"BA", b"\x07\x07", b"\x07\x06", b"\xDE\xAD\xBE\xEF"];
        for number in numbers {
            assert!(drawn.iter().any(|drawn| drawn == number), "{number:?}");
        }
        assert_eq!(dictionary.word(&mut rng), None);
    }

    #[test]
    fn words_of_the_program_and_of_traces_are_known_once() {
        let words = vec!["while".to_owned(), "x".to_owned()];
        let mut dictionary = Dictionary::of(&SiteTable { words, ..SiteTable::default() });
        for word in [&b"while"[..], b"\x00\x01", b"", &[b'a'; LONGEST + 1]] {
            dictionary.learn(word);
        }
        assert_eq!(dictionary.words, [&b"while"[..], b"\x00\x01"]);
        assert!(!dictionary.has_numbers());
    }
}
