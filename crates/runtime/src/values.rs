//! Concrete values of operators, as in the `trace` crate's description of them, up to 64 bits.

use trace::Op;

#[inline(always)]
pub const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

#[inline(always)]
pub const fn sign_extend(value: u64, bits: u32) -> i64 {
    if bits >= 64 {
        return value as i64;
    }
    let shift = 64 - bits;
    ((value << shift) as i64) >> shift
}

/// `a op b` for operands of `bits` bits. Comparisons give 0 or 1.
#[inline(always)]
pub fn binary(op: Op, bits: u32, a: u64, b: u64) -> u64 {
    let (sa, sb) = (sign_extend(a, bits), sign_extend(b, bits));
    let result = match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b).unwrap_or(u64::MAX),
        Op::URem => a.checked_rem(b).unwrap_or(a),
        Op::SDiv if sb == 0 => (if sa < 0 { 1 } else { -1i64 }) as u64,
        Op::SDiv => sa.wrapping_div(sb) as u64,
        Op::SRem if sb == 0 => sa as u64,
        Op::SRem => sa.wrapping_rem(sb) as u64,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl if b >= bits as u64 => 0,
        Op::Shl => a << b,
        Op::LShr if b >= bits as u64 => 0,
        Op::LShr => a >> b,
        Op::AShr => (sa >> b.min(bits as u64 - 1)) as u64,
        Op::Eq => return (a == b) as u64,
        Op::Ult => return (a < b) as u64,
        Op::Ule => return (a <= b) as u64,
        Op::Slt => return (sa < sb) as u64,
        Op::Sle => return (sa <= sb) as u64,
        _ => 0,
    };
    result & mask(bits)
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

pub fn unary(op: Op, bits: u32, a: u64) -> u64 {
    let result = match op {
        Op::Not => !a,
        Op::Bswap => a.swap_bytes() >> (64 - bits),
        Op::Ctpop => a.count_ones() as u64,
        Op::Ctlz => (a.leading_zeros() - (64 - bits)) as u64,
        Op::Cttz => (a.trailing_zeros()).min(bits) as u64,
        _ => 0,
    };
    result & mask(bits)
}
