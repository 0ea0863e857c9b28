//! What operators compute: on integers as the `trace` crate says, floats by the machine itself, so
//! that NaNs come out as they do in a target on the same machine.
//!
//! `Read`, `Find`, `Compare`, `Input`, `Len`, `Token` and `Const` get their values from elsewhere
//! and evaluate to 0 here.

use trace::Op;
pub(crate) use trace::semantics::Operator;
pub(crate) use trace::semantics::wide::mask;

macro_rules! with_floats {
    ($name:ident, $word:ty) => {
        pub(crate) mod $name {
            use super::{Op::*, Operator, compare_floats, float_to_float, float_to_integer_range};
            use trace::semantics::$name::{apply as of_integers, mask, sign_extend};

            /// The value of an operator on operands that are masked to their widths.
            #[inline(always)]
            pub(crate) fn apply(operator: Operator, a: $word, b: $word, c: $word) -> $word {
                let Operator { op, bits, operand_bits, .. } = operator;
                let (bits, width) = (u32::from(bits), u32::from(operand_bits));
                match op {
                    FAdd | FSub | FMul | FDiv | FRem | FSqrt | FConv => {
                        float_to_float(op, width, bits, a as u64, b as u64) as $word
                    }
                    FEq | FLt | FLe | FUno => {
                        compare_floats(op, width, a as u64, b as u64) as $word
                    }
                    FToS | FToU => {
                        float_to_integer_range(op, width, bits, a as u64) as $word & mask(bits)
                    }
                    SToF if bits == 32 => <$word>::from((sign_extend(a, width) as f32).to_bits()),
                    SToF => (sign_extend(a, width) as f64).to_bits() as $word,
                    UToF if bits == 32 => <$word>::from((a as f32).to_bits()),
                    UToF => (a as f64).to_bits() as $word,
                    _ => of_integers(operator, a, b, c),
                }
            }
        }
    };
}

with_floats!(narrow, u64);
with_floats!(wide, u128);

fn float_to_float(op: Op, from: u32, to: u32, a: u64, b: u64) -> u64 {
    match (op, from, to) {
        (Op::FConv, 32, 64) => f64::from(f32::from_bits(a as u32)).to_bits(),
        (Op::FConv, 64, 32) => u64::from((f64::from_bits(a) as f32).to_bits()),
        (Op::FConv, ..) => a,
        (_, 32, _) => {
            u64::from(single(op, f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits())
        }
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
