//! Shapes: expressions of one byte of the input, whichever byte that is.
//!
//! A program asks every byte of a text the same, so most expressions of a run are few shapes at
//! many places. A run writes each shape once, as a [`Node`](crate::Node) whose operands are numbers
//! of earlier shapes; shape 0 is the byte itself, and constants are shapes, too. Labels with the
//! bit [`SHAPED`] say which shape at which place.

use crate::node::Label;

/// The bit that labels of shapes have and labels of nodes have not.
pub const SHAPED: Label = 1 << SHAPED_BITS;
const SHAPED_BITS: u32 = 27;

/// How many shapes a run can have.
pub const MAX_SHAPES: u32 = 4096;

/// How labels of shapes are put together in a run, which depends on the length of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// How many bits of a label are the place.
    pub bits: u32,
}

/// A shape at a place of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaped {
    pub shape: u32,
    pub place: u32,
}

impl Places {
    pub const fn of(input_len: u32) -> Places {
        Places { bits: u32::BITS - input_len.saturating_sub(1).leading_zeros() }
    }

    /// How many shapes labels have room for.
    pub const fn shapes(self) -> u32 {
        let room = if self.bits >= SHAPED_BITS { 0 } else { 1 << (SHAPED_BITS - self.bits) };
        if room < MAX_SHAPES { room } else { MAX_SHAPES }
    }

    #[inline(always)]
    pub const fn label(self, shape: u32, place: u32) -> Label {
        SHAPED | shape << self.bits | place
    }

    /// Of a label with the bit [`SHAPED`].
    #[inline(always)]
    pub const fn split(self, label: Label) -> Shaped {
        let rest = label & (SHAPED - 1);
        Shaped { shape: rest >> self.bits, place: rest & ((1 << self.bits) - 1) }
    }
}
