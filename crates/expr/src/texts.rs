//! What operations on texts compute: searches for a constant pattern, and comparisons with one.
//!
//! Plain loops, because this is what every solver's answer is checked with.

use crate::dag::op_of;
use trace::{Node, Op, text};

/// `Find` or `Compare` with its pattern.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'p> {
    pub op: Op,
    /// See [`text`].
    pub flags: u16,
    pub pattern: &'p [u8],
}

impl<'p> Operation<'p> {
    pub(crate) fn new(node: &Node, pattern: &'p [u8]) -> Operation<'p> {
        Operation { op: op_of(node), flags: node.aux, pattern }
    }

    /// The result on a text of `len` bytes.
    pub fn apply(&self, len: usize, byte: impl Fn(usize) -> u8) -> u64 {
        match self.op {
            Op::Compare => u64::from(self.compare(len, byte) as u32),
            _ if self.has(text::LAST) => self.last(len, byte),
            _ => self.first(len, byte),
        }
    }

    fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// `r(i) = if hit(i) { i } else if text ends at i { len } else { r(i + 1) }`
    fn first(&self, len: usize, byte: impl Fn(usize) -> u8) -> u64 {
        for at in 0..len {
            if self.is_hit(at, len, &byte) {
                return at as u64;
            }
            if self.has(text::TERMINATED) && byte(at) == 0 {
                break;
            }
        }
        len as u64
    }

    /// The last hit before the text ends.
    fn last(&self, len: usize, byte: impl Fn(usize) -> u8) -> u64 {
        let mut last = len;
        for at in 0..len {
            if self.has(text::TERMINATED) && byte(at) == 0 {
                break;
            }
            if self.is_hit(at, len, &byte) {
                last = at;
            }
        }
        last as u64
    }

    fn is_hit(&self, at: usize, len: usize, byte: &impl Fn(usize) -> u8) -> bool {
        if self.has(text::SET) {
            let here = self.folded(byte(at));
            let is_member = self.pattern.iter().any(|&member| self.folded(member) == here);
            return is_member != self.has(text::NEGATED);
        }
        let fits = self.pattern.len() <= len - at;
        fits && (at..)
            .zip(self.pattern)
            .all(|(at, &wanted)| self.folded(byte(at)) == self.folded(wanted))
    }

    fn compare(&self, len: usize, byte: impl Fn(usize) -> u8) -> i32 {
        for (at, &other) in self.pattern.iter().enumerate().take(len) {
            let (here, other) = (self.folded(byte(at)), self.folded(other));
            if here != other {
                return if here < other { -1 } else { 1 };
            }
            if self.has(text::TERMINATED) && here == 0 {
                break;
            }
        }
        0
    }

    fn folded(&self, byte: u8) -> u8 {
        if self.has(text::FOLD) { byte.to_ascii_lowercase() } else { byte }
    }
}
