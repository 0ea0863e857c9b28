//! What each operator computes, once for words of 64 bits and once for words of 128 from the same text.
//!
//! `Read`, `Find`, `Compare`, `Input`, `Len`, `Token` and `Const` get their values from elsewhere and evaluate to 0 here. Floats are
//! computed by the machine itself, so that NaNs come out as they do in a target on the same machine.

use trace::Op;

/// An operator with the widths that its meaning depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Operator {
    pub op: Op,
    /// Width of the result.
    pub bits: u8,
    /// Width of the first operand.
    pub operand_bits: u8,
    /// Lowest bit of an `Extract`.
    pub low: u8,
}

/// The `bits` lowest bits.
pub(crate) fn mask(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

macro_rules! semantics {
    ($name:ident, $word:ty, $signed:ty) => {
        pub(crate) mod $name {
            use super::{Op, Operator, compare_floats, float_to_float, float_to_integer_range};

            const WORD: u32 = <$word>::BITS;

            #[inline(always)]
            fn mask(bits: u32) -> $word {
                <$word>::MAX >> (WORD - bits)
            }

            #[inline(always)]
            fn signed(value: $word, bits: u32) -> $signed {
                ((value << (WORD - bits)) as $signed) >> (WORD - bits)
            }

            #[inline(always)]
            fn sdiv(a: $signed, b: $signed) -> $signed {
                if b != 0 {
                    a.wrapping_div(b)
                } else if a < 0 {
                    1
                } else {
                    -1
                }
            }

            #[inline(always)]
            fn ashr(a: $signed, amount: $word, bits: u32) -> $signed {
                a >> amount.min((bits - 1) as $word) as u32
            }

            /// The value of an operator on operands that are masked to their widths.
            #[inline(always)]
            pub(crate) fn apply(operator: Operator, a: $word, b: $word, c: $word) -> $word {
                let Operator { op, bits, operand_bits, low } = operator;
                let (bits, width) = (u32::from(bits), u32::from(operand_bits));
                use Op::*;
                match op {
                    Const | Token | Input | Len | Read | Find | Compare => 0,
                    Add => a.wrapping_add(b) & mask(bits),
                    Sub => a.wrapping_sub(b) & mask(bits),
                    Mul => a.wrapping_mul(b) & mask(bits),
                    UDiv => a.checked_div(b).unwrap_or(mask(bits)),
                    SDiv => sdiv(signed(a, bits), signed(b, bits)) as $word & mask(bits),
                    URem => a.checked_rem(b).unwrap_or(a),
                    SRem if b == 0 => a,
                    SRem => signed(a, bits).wrapping_rem(signed(b, bits)) as $word & mask(bits),
                    And => a & b,
                    Or => a | b,
                    Xor => a ^ b,
                    Shl if b >= bits as $word => 0,
                    Shl => (a << b as u32) & mask(bits),
                    LShr if b >= bits as $word => 0,
                    LShr => a >> b as u32,
                    AShr => ashr(signed(a, bits), b, bits) as $word & mask(bits),
                    Not => !a & mask(bits),
                    Eq => (a == b) as $word,
                    Ult => (a < b) as $word,
                    Ule => (a <= b) as $word,
                    Slt => (signed(a, width) < signed(b, width)) as $word,
                    Sle => (signed(a, width) <= signed(b, width)) as $word,
                    ZExt => a,
                    SExt => signed(a, width) as $word & mask(bits),
                    Extract => (a >> u32::from(low)) & mask(bits),
                    Concat => a << (bits - width) | b,
                    Ite => {
                        if a != 0 {
                            b
                        } else {
                            c
                        }
                    }
                    Bswap => a.swap_bytes() >> (WORD - bits),
                    Ctpop => <$word>::from(a.count_ones()) & mask(bits),
                    Ctlz => <$word>::from(a.leading_zeros() - (WORD - bits)) & mask(bits),
                    Cttz => <$word>::from(a.trailing_zeros().min(bits)) & mask(bits),
                    FAdd | FSub | FMul | FDiv | FRem | FSqrt | FConv => {
                        float_to_float(op, width, bits, a as u64, b as u64) as $word
                    }
                    FEq | FLt | FLe | FUno => compare_floats(op, width, a as u64, b as u64) as $word,
                    FToS | FToU => float_to_integer_range(op, width, bits, a as u64) as $word & mask(bits),
                    SToF if bits == 32 => <$word>::from((signed(a, width) as f32).to_bits()),
                    SToF => (signed(a, width) as f64).to_bits() as $word,
                    UToF if bits == 32 => <$word>::from((a as f32).to_bits()),
                    UToF => (a as f64).to_bits() as $word,
                }
            }
        }
    };
}

semantics!(narrow, u64, i64);
semantics!(wide, u128, i128);

fn float_to_float(op: Op, from: u32, to: u32, a: u64, b: u64) -> u64 {
    match (op, from, to) {
        (Op::FConv, 32, 64) => f64::from(f32::from_bits(a as u32)).to_bits(),
        (Op::FConv, 64, 32) => u64::from((f64::from_bits(a) as f32).to_bits()),
        (Op::FConv, ..) => a,
        (_, 32, _) => u64::from(single(op, f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits()),
        _ => double(op, f64::from_bits(a), f64::from_bits(b)).to_bits(),
    }
}

fn single(op: Op, a: f32, b: f32) -> f32 {
    match op {
        Op::FAdd => a + b,
        Op::FSub => a - b,
        Op::FMul => a * b,
        Op::FDiv => a / b,
        Op::FRem => a % b,
        _ => a.sqrt(),
    }
}

fn double(op: Op, a: f64, b: f64) -> f64 {
    match op {
        Op::FAdd => a + b,
        Op::FSub => a - b,
        Op::FMul => a * b,
        Op::FDiv => a / b,
        Op::FRem => a % b,
        _ => a.sqrt(),
    }
}

/// Widening a `float` is exact, so one comparison serves both widths.
fn compare_floats(op: Op, width: u32, a: u64, b: u64) -> bool {
    let (a, b) = (widen(width, a), widen(width, b));
    match op {
        Op::FEq => a == b,
        Op::FLt => a < b,
        Op::FLe => a <= b,
        _ => a.is_nan() || b.is_nan(),
    }
}

fn widen(width: u32, value: u64) -> f64 {
    if width == 32 { f64::from(f32::from_bits(value as u32)) } else { f64::from_bits(value) }
}

fn float_to_integer_range(op: Op, width: u32, bits: u32, value: u64) -> u128 {
    let value = widen(width, value);
    if op == Op::FToU {
        return (value as u128).min(mask(bits));
    }
    let largest = (mask(bits) >> 1) as i128;
    (value as i128).clamp(-largest - 1, largest) as u128
}
