//! What is asked about the input's length: programs ask at every byte whether there is another and
//! how much is left, so these have labels of their own, without nodes.

use crate::node::Label;

/// The bit that labels of such conditions have; they do not have [`SHAPED`](crate::SHAPED).
pub const LENGTH: Label = 1 << 26;
const KIND_SHIFT: u32 = 22;

/// A condition on the length, a constant in one, or what is left of the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    pub kind: LengthKind,
    /// At most [`Length::MOST`].
    pub number: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LengthKind {
    /// The number itself, with 64 bits.
    Number,
    /// The length is less than the number.
    Less,
    /// It is the number.
    Equal,
    NotLess,
    NotEqual,
    /// The length minus the number, with 64 bits.
    Rest,
}

impl Length {
    pub const MOST: u32 = (1 << KIND_SHIFT) - 1;

    #[inline(always)]
    pub const fn label(self) -> Label {
        LENGTH | (self.kind as u32) << KIND_SHIFT | self.number
    }

    /// Of a label with the bit [`LENGTH`]; `None` if there is no such kind.
    #[inline(always)]
    pub const fn of(label: Label) -> Option<Length> {
        let kind = match (label & (LENGTH - 1)) >> KIND_SHIFT {
            0 => LengthKind::Number,
            1 => LengthKind::Less,
            2 => LengthKind::Equal,
            3 => LengthKind::NotLess,
            4 => LengthKind::NotEqual,
            5 => LengthKind::Rest,
            _ => return None,
        };
        Some(Length { kind, number: label & Length::MOST })
    }

    /// The condition that holds where this one does not; what is no condition is its own.
    pub const fn negated(self) -> Length {
        let kind = match self.kind {
            LengthKind::Number | LengthKind::Rest => self.kind,
            LengthKind::Less => LengthKind::NotLess,
            LengthKind::Equal => LengthKind::NotEqual,
            LengthKind::NotLess => LengthKind::Less,
            LengthKind::NotEqual => LengthKind::Equal,
        };
        Length { kind, ..self }
    }

    pub const fn is_condition(self) -> bool {
        !matches!(self.kind, LengthKind::Number | LengthKind::Rest)
    }

    pub const fn is_negated(self) -> bool {
        matches!(self.kind, LengthKind::NotLess | LengthKind::NotEqual)
    }
}
