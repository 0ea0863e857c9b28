//! Sets of bytes, and the partition of all bytes into classes that no set of a problem tells apart.
//!
//! Everything above works on one representative of each class; only counting and listing look at
//! the members.

use std::fmt;

/// A set of bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteSet([u64; 4]);

impl From<[u64; 4]> for ByteSet {
    /// Byte `b` is bit `b % 64` of word `b / 64`.
    fn from(words: [u64; 4]) -> Self {
        ByteSet(words)
    }
}

impl ByteSet {
    pub const EMPTY: ByteSet = ByteSet([0; 4]);
    pub const FULL: ByteSet = ByteSet([u64::MAX; 4]);

    pub fn single(byte: u8) -> Self {
        let mut set = Self::EMPTY;
        set.insert(byte);
        set
    }

    /// All bytes from `first` to `last`; none if they are the wrong way round.
    pub fn range(first: u8, last: u8) -> Self {
        (first..=last).collect()
    }

    #[inline]
    pub fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    #[inline]
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn union(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    pub fn intersection(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    pub fn complement(self) -> Self {
        ByteSet(self.0.map(|word| !word))
    }

    /// The smallest byte.
    pub fn first(self) -> Option<u8> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some((word * 64) as u8 + self.0[word].trailing_zeros() as u8)
    }

    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..=255).filter(move |&byte| self.contains(byte))
    }

    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        ByteSet(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<T: IntoIterator<Item = u8>>(bytes: T) -> Self {
        let mut set = Self::EMPTY;
        for byte in bytes {
            set.insert(byte);
        }
        set
    }
}

impl fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A class of bytes that behave alike, with the byte that stands for it.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    pub representative: u8,
    pub members: ByteSet,
}

/// The coarsest partition that respects all of `sets`.
pub fn classes(sets: impl IntoIterator<Item = ByteSet>) -> Vec<Class> {
    let mut blocks = vec![ByteSet::FULL];
    for set in sets {
        for i in 0..blocks.len() {
            let inside = blocks[i].intersection(set);
            if !inside.is_empty() && inside != blocks[i] {
                blocks.push(blocks[i].intersection(set.complement()));
                blocks[i] = inside;
            }
        }
    }
    blocks.sort_by_key(|block| readability(representative(*block)));
    blocks
        .into_iter()
        .map(|members| Class { representative: representative(members), members })
        .collect()
}

fn representative(members: ByteSet) -> u8 {
    members.iter().min_by_key(|&byte| readability(byte)).unwrap_or(0)
}

/// Solutions are read by people: letters before digits before signs before what cannot be printed.
fn readability(byte: u8) -> (u8, u8) {
    let rank = match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        b' '..=b'~' => 3,
        _ => 4,
    };
    (rank, byte)
}
