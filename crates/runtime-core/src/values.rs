//! Concrete values of operators, up to 64 bits.

use trace::Op;
use trace::semantics::Operator;
use trace::semantics::narrow::apply;
pub use trace::semantics::narrow::{mask, sign_extend};

/// Of operands and result; wider ones are computed with in their lowest bits.
#[inline(always)]
fn operator(op: Op, bits: u32) -> Operator {
    let bits = bits.min(u64::BITS) as u8;
    Operator { op, bits, operand_bits: bits, low: 0 }
}

/// `a op b` for operands of `bits` bits. Comparisons give 0 or 1.
#[inline(always)]
pub fn binary(op: Op, bits: u32, a: u64, b: u64) -> u64 {
    if is_binary(op) { apply(operator(op, bits), a, b, 0) } else { 0 }
}

/// Whether [`binary`] knows the operator.
pub fn is_binary(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Add | Sub
            | Mul
            | UDiv
            | URem
            | SDiv
            | SRem
            | And
            | Or
            | Xor
            | Shl
            | LShr
            | AShr
            | Eq
            | Ult
            | Ule
            | Slt
            | Sle
    )
}

#[inline(always)]
pub fn unary(op: Op, bits: u32, a: u64) -> u64 {
    use Op::*;
    match op {
        Not | Bswap | Ctpop | Ctlz | Cttz => apply(operator(op, bits), a, 0, 0),
        _ => 0,
    }
}
