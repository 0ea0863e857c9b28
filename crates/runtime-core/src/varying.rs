//! Which bits of an expression's value can be different for another input.
//!
//! Programs pack fields into words and take them out again: an instruction with a symbolic operand
//! has an opcode that is known, and a character beside a flag leaves the flag what it was. Without
//! this, all that depends on the known part would depend on the input.

use crate::state::Run;
use crate::values::{mask, sign_extend};
use crate::{facts, nodes, shapes};
use trace::{Label, Op};

/// How deep expressions are looked into.
const DEPTH: u32 = 6;

/// What is known of a value of up to 64 bits: what it is in this run, and which of its bits may be
/// different in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    value: u64,
    varying: u64,
}

impl Bits {
    pub const fn known(value: u64) -> Bits {
        Bits { value, varying: 0 }
    }

    pub fn of(run: &Run, label: Label) -> Bits {
        look(run, label, DEPTH)
    }

    pub fn is_known(self) -> bool {
        self.varying == 0
    }

    fn least(self) -> u64 {
        self.value & !self.varying
    }

    fn greatest(self) -> u64 {
        self.value | self.varying
    }

    fn zeros(self) -> u64 {
        !self.greatest()
    }

    pub fn and(self, other: Bits) -> Bits {
        let varying = (self.varying | other.varying) & !self.zeros() & !other.zeros();
        Bits { value: self.value & other.value, varying }
    }

    pub fn or(self, other: Bits) -> Bits {
        let varying = (self.varying | other.varying) & !self.least() & !other.least();
        Bits { value: self.value | other.value, varying }
    }

    fn xor(self, other: Bits) -> Bits {
        Bits { value: self.value ^ other.value, varying: self.varying | other.varying }
    }

    fn shift_left(self, by: u64, bits: u32) -> Bits {
        let shifted = |word: u64| if by >= bits as u64 { 0 } else { word << by & mask(bits) };
        Bits { value: shifted(self.value), varying: shifted(self.varying) }
    }

    pub fn shift_right(self, by: u64) -> Bits {
        let shifted = |word: u64| if by >= 64 { 0 } else { word >> by };
        Bits { value: shifted(self.value), varying: shifted(self.varying) }
    }

    /// Extends the sign of `from` bits; if the sign can be different, so can all of its copies.
    fn sign_extended(self, from: u32, to: u32) -> Bits {
        let extended = |word: u64| sign_extend(word, from) as u64 & mask(to);
        Bits { value: extended(self.value), varying: extended(self.varying) }
    }

    pub fn low(self, bits: u32) -> Bits {
        Bits { value: self.value & mask(bits), varying: self.varying & mask(bits) }
    }

    /// A sum or product of `bits` bits: below the lowest bit that can be different nothing is;
    /// above, what all values between the least and the greatest have in common is not.
    fn arithmetic(value: u64, lowest: u32, range: Option<(u64, u64)>, bits: u32) -> Bits {
        let common = match range {
            Some((least, greatest)) if greatest <= mask(bits) => match least ^ greatest {
                0 => 0,
                different => mask(64 - different.leading_zeros()),
            },
            _ => mask(bits),
        };
        let above = if lowest >= 64 { 0 } else { u64::MAX << lowest };
        Bits { value, varying: common & above & mask(bits) }
    }

    fn add(self, other: Bits, bits: u32) -> Bits {
        let varying = self.varying | other.varying;
        let least = self.least().checked_add(other.least());
        let greatest = self.greatest().checked_add(other.greatest());
        let value = self.value.wrapping_add(other.value) & mask(bits);
        Bits::arithmetic(value, varying.trailing_zeros(), least.zip(greatest), bits)
    }

    fn subtract(self, other: Bits, bits: u32) -> Bits {
        let varying = self.varying | other.varying;
        let least = self.least().checked_sub(other.greatest());
        let greatest = self.greatest().checked_sub(other.least());
        let value = self.value.wrapping_sub(other.value) & mask(bits);
        Bits::arithmetic(value, varying.trailing_zeros(), least.zip(greatest), bits)
    }

    fn multiply(self, other: Bits, bits: u32) -> Bits {
        let value = self.value.wrapping_mul(other.value) & mask(bits);
        let zeros = |x: Bits| x.greatest().trailing_zeros();
        let lowest = |a: Bits, b: Bits| a.varying.trailing_zeros().saturating_add(zeros(b));
        let lowest = lowest(self, other).min(lowest(other, self));
        let least = self.least().checked_mul(other.least());
        let greatest = self.greatest().checked_mul(other.greatest());
        Bits::arithmetic(value, lowest, least.zip(greatest), bits)
    }

    /// Whether the value compares to a constant of `bits` bits as it does now for all inputs.
    pub fn compares_alike(self, op: Op, constant: u64, bits: u32) -> bool {
        let (least, greatest) = (self.least(), self.greatest());
        let sign = |word: u64| word >> (bits - 1) & 1;
        let signed_alike = sign(self.varying) == 0;
        let [least_signed, greatest_signed, wanted] =
            [least, greatest, constant].map(|w| sign_extend(w, bits));
        match op {
            Op::Eq => (self.value ^ constant) & !self.varying & mask(bits) != 0,
            Op::Ult => greatest < constant || least >= constant,
            Op::Ule => greatest <= constant || least > constant,
            Op::Slt => signed_alike && (greatest_signed < wanted || least_signed >= wanted),
            Op::Sle => signed_alike && (greatest_signed <= wanted || least_signed > wanted),
            _ => false,
        }
    }
}

fn look(run: &Run, label: Label, depth: u32) -> Bits {
    if let Some(at) = shapes::split(run, label) {
        let varying = if facts::is_fixed(run, label) { 0 } else { shapes::varying(run, at) };
        return Bits { value: shapes::value(run, at), varying };
    }
    let node = nodes::node(run, label);
    let bits = node.bits as u32;
    let value = nodes::value(run, label);
    let anything = Bits { value, varying: mask(bits) };
    let Some(op) = Op::from_byte(node.op) else { return anything };
    if op == Op::Const || facts::is_fixed(run, label) {
        return Bits::known(value);
    }
    if depth == 0 || bits > 64 {
        return anything;
    }
    let look = |operand: Label| look(run, operand, depth - 1);
    let constant = || nodes::as_constant(run, node.b);
    // Models make choices whose sides depend on what this run chose, so that a run that chooses
    // otherwise would know other bits.
    match op {
        Op::ZExt => look(node.a),
        Op::SExt => look(node.a).sign_extended(nodes::bits(run, node.a), bits),
        Op::Extract if nodes::bits(run, node.a) <= 64 => {
            look(node.a).shift_right(node.aux as u64).low(bits)
        }
        Op::Concat => {
            look(node.a).shift_left(nodes::bits(run, node.b) as u64, bits).or(look(node.b))
        }
        Op::And => look(node.a).and(look(node.b)),
        Op::Or => look(node.a).or(look(node.b)),
        Op::Xor => look(node.a).xor(look(node.b)),
        Op::Not => Bits { value, varying: look(node.a).varying },
        Op::Add => look(node.a).add(look(node.b), bits),
        Op::Sub => look(node.a).subtract(look(node.b), bits),
        Op::Mul => look(node.a).multiply(look(node.b), bits),
        Op::Shl | Op::LShr => match constant() {
            Some(by) if op == Op::Shl => look(node.a).shift_left(by, bits),
            Some(by) => look(node.a).shift_right(by),
            None => anything,
        },
        _ => anything,
    }
}
