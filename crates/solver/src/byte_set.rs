//! Sets of byte values.

/// A set of byte values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    pub const EMPTY: ByteSet = ByteSet([0; 4]);
    pub const ALL: ByteSet = ByteSet([u64::MAX; 4]);

    /// Byte `b` is bit `b % 64` of word `b / 64`.
    pub fn words(self) -> [u64; 4] {
        self.0
    }

    /// The set whose [`words`](ByteSet::words) these are.
    pub fn from_words(words: [u64; 4]) -> ByteSet {
        ByteSet(words)
    }

    pub fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    pub fn intersection(self, other: ByteSet) -> ByteSet {
        ByteSet(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    pub fn complement(self) -> ByteSet {
        ByteSet(self.0.map(|word| !word))
    }

    /// The members as inclusive ranges, in increasing order.
    pub fn ranges(self) -> Vec<(u8, u8)> {
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        for byte in (0..=255).filter(|&byte| self.contains(byte)) {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == byte => *last = byte,
                _ => ranges.push((byte, byte)),
            }
        }
        ranges
    }

    /// The members in order of preference: `current` first, then what reads well in a test.
    pub fn preferred(self, current: Option<u8>) -> impl Iterator<Item = u8> {
        let others = PREFERENCE.iter().copied().filter(move |&byte| Some(byte) != current);
        current.into_iter().chain(others).filter(move |&byte| self.contains(byte))
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> ByteSet {
        let mut set = ByteSet::EMPTY;
        bytes.into_iter().for_each(|byte| set.insert(byte));
        set
    }
}

/// Letters, digits, other printable characters, white space, the rest.
const PREFERENCE: [u8; 256] = preference();

const fn preference() -> [u8; 256] {
    let mut order = [0; 256];
    let mut filled = 0;
    let mut class = 0;
    while class < 6 {
        let mut byte = 0;
        while byte < 256 {
            if class_of(byte as u8) == class {
                order[filled] = byte as u8;
                filled += 1;
            }
            byte += 1;
        }
        class += 1;
    }
    order
}

const fn class_of(byte: u8) -> u32 {
    match byte {
        b'a'..=b'z' => 0,
        b'0'..=b'9' => 1,
        b'A'..=b'Z' => 2,
        b' '..=b'~' => 3,
        b'\n' | b'\t' | b'\r' => 4,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preference_is_a_permutation() {
        let mut sorted = PREFERENCE;
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(index, &byte)| index == usize::from(byte)));
    }

    #[test]
    fn ranges_join_neighbours() {
        let set: ByteSet = [255, 3, 1, 2, 254, 9].into_iter().collect();
        assert_eq!(set.ranges(), [(1, 3), (9, 9), (254, 255)]);
        assert_eq!((ByteSet::ALL.ranges(), ByteSet::EMPTY.ranges()), (vec![(0, 255)], vec![]));
    }

    #[test]
    fn current_byte_comes_first_and_once() {
        let order: Vec<u8> = ByteSet::ALL.preferred(Some(b'#')).collect();
        assert_eq!((order[0], order.len()), (b'#', 256));
        assert_eq!(ByteSet::EMPTY.preferred(Some(b'#')).next(), None);
    }
}
