//! Comparisons of 64 bits that end a region of the program, as a number that the instrumenter gives
//! to the runtime.

use crate::node::Op;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub op: Op,
    /// The condition is that it does not hold.
    pub is_negated: bool,
    /// The second operand, or the constant, comes first.
    pub is_swapped: bool,
    /// The difference of both operands is compared with a constant.
    pub is_of_difference: bool,
}

const IS_ONE: u16 = 1 << 8;
const NEGATED: u16 = 1 << 9;
const SWAPPED: u16 = 1 << 10;
const DIFFERENCE: u16 = 1 << 11;

impl Comparison {
    /// Not 0.
    pub fn number(self) -> u16 {
        let flag = |is_set: bool, bit: u16| if is_set { bit } else { 0 };
        IS_ONE
            | self.op as u16
            | flag(self.is_negated, NEGATED)
            | flag(self.is_swapped, SWAPPED)
            | flag(self.is_of_difference, DIFFERENCE)
    }

    #[inline(always)]
    pub fn of(number: u16) -> Option<Comparison> {
        if number & IS_ONE == 0 {
            return None;
        }
        let is_set = |bit: u16| number & bit != 0;
        let (is_negated, is_swapped, is_of_difference) =
            (is_set(NEGATED), is_set(SWAPPED), is_set(DIFFERENCE));
        Some(Comparison {
            op: Op::from_byte(number as u8)?,
            is_negated,
            is_swapped,
            is_of_difference,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_says_everything() {
        for flags in 0..8 {
            let [is_negated, is_swapped, is_of_difference] =
                [1, 2, 4].map(|flag| flags & flag != 0);
            for op in [Op::Eq, Op::Ult, Op::Ule, Op::Slt, Op::Sle] {
                let comparison = Comparison { op, is_negated, is_swapped, is_of_difference };
                assert_eq!(Comparison::of(comparison.number()), Some(comparison));
            }
        }
        assert_eq!(Comparison::of(0), None);
    }
}
