//! Sets of byte values.

/// A set of byte values: byte `b` is bit `b % 64` of word `b / 64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteSet(pub [u64; 4]);

impl ByteSet {
    pub const EMPTY: ByteSet = ByteSet([0; 4]);
    pub const ALL: ByteSet = ByteSet([u64::MAX; 4]);

    /// The set of one byte. By words, since the processor waits where one is written and all are
    /// read.
    #[inline(always)]
    pub fn only(byte: u8) -> ByteSet {
        ByteSet(core::array::from_fn(|word| ((byte as usize / 64 == word) as u64) << (byte % 64)))
    }

    /// The bytes whose values, of all in order, satisfy a condition.
    #[inline(always)]
    pub fn whose<T: Copy>(values: &[T; 256], is_in: impl Fn(T) -> bool) -> ByteSet {
        let mut words = [0; 4];
        for (word, values) in words.iter_mut().zip(values.chunks_exact(64)) {
            for (i, value) in values.iter().enumerate() {
                *word |= (is_in(*value) as u64) << i;
            }
        }
        ByteSet(words)
    }

    pub const fn words(self) -> [u64; 4] {
        self.0
    }

    /// The set whose [`words`](ByteSet::words) these are.
    pub const fn from_words(words: [u64; 4]) -> ByteSet {
        ByteSet(words)
    }

    #[inline]
    pub fn insert(&mut self, byte: u8) {
        self.0[byte as usize >> 6] |= 1 << (byte & 63);
    }

    #[inline]
    pub fn insert_range(&mut self, from: u8, to: u8) {
        for byte in from..=to {
            self.insert(byte);
        }
    }

    #[inline]
    pub const fn contains(&self, byte: u8) -> bool {
        self.0[byte as usize >> 6] >> (byte & 63) & 1 == 1
    }

    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    #[inline]
    pub const fn intersection(self, ByteSet([e, f, g, h]): ByteSet) -> ByteSet {
        let ByteSet([a, b, c, d]) = self;
        ByteSet([a & e, b & f, c & g, d & h])
    }

    #[inline(always)]
    pub const fn complement(self) -> ByteSet {
        let ByteSet([a, b, c, d]) = self;
        ByteSet([!a, !b, !c, !d])
    }

    /// The members as inclusive ranges, in increasing order.
    #[inline]
    pub fn ranges(self) -> impl Iterator<Item = (u8, u8)> {
        let mut next = 0u16;
        let go = move |next: u16, wanted: bool| {
            (next..256).find(|byte| self.contains(*byte as u8) == wanted).unwrap_or(256)
        };
        core::iter::from_fn(move || {
            let first = go(next, true);
            next = go(first, false);
            (first < 256).then(|| (first as u8, (next - 1) as u8))
        })
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
static PREFERENCE: [u8; 256] = preference();

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
    extern crate std;
    use std::vec::Vec;

    fn ranges(set: ByteSet) -> Vec<(u8, u8)> {
        set.ranges().collect()
    }

    #[test]
    fn preference_is_a_permutation() {
        let mut sorted = PREFERENCE;
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(index, &byte)| index == usize::from(byte)));
    }

    #[test]
    fn ranges_join_neighbours() {
        let set: ByteSet = [255, 3, 1, 2, 254, 9].into_iter().collect();
        assert_eq!(ranges(set), [(1, 3), (9, 9), (254, 255)]);
        assert_eq!(
            (ranges(ByteSet::ALL), ranges(ByteSet::EMPTY)),
            (Vec::from([(0, 255)]), Vec::new())
        );
    }

    #[test]
    fn sets_are_made_of_values() {
        let squares: [u32; 256] = core::array::from_fn(|byte| (byte * byte) as u32);
        let small = ByteSet::whose(&squares, |square| square < 100);
        assert_eq!(
            (ranges(small), ranges(small.complement())),
            (Vec::from([(0, 9)]), Vec::from([(10, 255)]))
        );
        assert!(small.intersection(small.complement()).is_empty());
    }

    #[test]
    fn current_byte_comes_first_and_once() {
        let order: Vec<u8> = ByteSet::ALL.preferred(Some(b'#')).collect();
        assert_eq!((order[0], order.len()), (b'#', 256));
        assert_eq!(ByteSet::EMPTY.preferred(Some(b'#')).next(), None);
    }
}
