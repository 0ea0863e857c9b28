//! What each operator on integers computes, once for words of 64 bits and once for words of 128
//! from the same text.
//!
//! The runtime computes with it what a target does, and the evaluator what an expression means.
//! Operators on floats, and those whose value comes from elsewhere, as `Read`, evaluate to 0 here.

use crate::node::Op;

/// An operator with the widths that its meaning depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operator {
    pub op: Op,
    /// Width of the result.
    pub bits: u8,
    /// Width of the first operand.
    pub operand_bits: u8,
    /// Lowest bit of an `Extract`.
    pub low: u8,
}

macro_rules! semantics {
    ($name:ident, $word:ty, $signed:ty) => {
        pub mod $name {
            use super::{Op, Operator};

            const WORD: u32 = <$word>::BITS;

            /// The `bits` lowest bits; all of them if the word has no more.
            #[inline(always)]
            pub const fn mask(bits: u32) -> $word {
                if bits >= WORD { <$word>::MAX } else { (1 << bits) - 1 }
            }

            /// A number of `bits` bits with its sign; the whole word if it has no more.
            #[inline(always)]
            pub const fn sign_extend(value: $word, bits: u32) -> $signed {
                if bits >= WORD { value as $signed } else { signed(value, bits) }
            }

            /// As [`mask`], of 1 to as many bits as the word has.
            #[inline(always)]
            const fn low(bits: u32) -> $word {
                <$word>::MAX >> (WORD - bits)
            }

            /// As [`sign_extend`], of 1 to as many bits as the word has.
            #[inline(always)]
            const fn signed(value: $word, bits: u32) -> $signed {
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

            /// Tested on what is divided by, so that the compiler sees that nothing can panic.
            #[inline(always)]
            fn srem(a: $signed, b: $signed) -> $signed {
                if b != 0 { a.wrapping_rem(b) } else { a }
            }

            #[inline(always)]
            fn ashr(a: $signed, amount: $word, bits: u32) -> $signed {
                a >> amount.min((bits - 1) as $word) as u32
            }

            /// The value of an operator on operands that are masked to their widths.
            #[inline(always)]
            pub fn apply(operator: Operator, a: $word, b: $word, c: $word) -> $word {
                let (bits, width) = (operator.bits as u32, operator.operand_bits as u32);
                use Op::*;
                match operator.op {
                    Add => a.wrapping_add(b) & low(bits),
                    Sub => a.wrapping_sub(b) & low(bits),
                    Mul => a.wrapping_mul(b) & low(bits),
                    UDiv => a.checked_div(b).unwrap_or(low(bits)),
                    SDiv => sdiv(signed(a, bits), signed(b, bits)) as $word & low(bits),
                    URem => a.checked_rem(b).unwrap_or(a),
                    SRem => srem(signed(a, bits), signed(b, bits)) as $word & low(bits),
                    And => a & b,
                    Or => a | b,
                    Xor => a ^ b,
                    Shl if b >= bits as $word => 0,
                    Shl => (a << b as u32) & low(bits),
                    LShr if b >= bits as $word => 0,
                    LShr => a >> b as u32,
                    AShr => ashr(signed(a, bits), b, bits) as $word & low(bits),
                    Not => !a & low(bits),
                    Eq => (a == b) as $word,
                    Ult => (a < b) as $word,
                    Ule => (a <= b) as $word,
                    Slt => (signed(a, width) < signed(b, width)) as $word,
                    Sle => (signed(a, width) <= signed(b, width)) as $word,
                    ZExt => a,
                    SExt => signed(a, width) as $word & low(bits),
                    Extract => (a >> operator.low as u32) & low(bits),
                    Concat => a << (bits - width) | b,
                    Ite if a != 0 => b,
                    Ite => c,
                    Bswap => a.swap_bytes() >> (WORD - bits),
                    Ctpop => a.count_ones() as $word & low(bits),
                    Ctlz => (a.leading_zeros() - (WORD - bits)) as $word & low(bits),
                    Cttz => a.trailing_zeros().min(bits) as $word & low(bits),
                    Const | Token | Input | Len | Read | Find | Compare => 0,
                    FAdd | FSub | FMul | FDiv | FRem | FSqrt | FConv => 0,
                    FEq | FLt | FLe | FUno | FToS | FToU | SToF | UToF => 0,
                }
            }
        }
    };
}

semantics!(narrow, u64, i64);
semantics!(wide, u128, i128);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BINARY: [Op; 18] = {
        use Op::*;
        [
            Add, Sub, Mul, UDiv, SDiv, URem, SRem, And, Or, Xor, Shl, LShr, AShr, Eq, Ult, Ule,
            Slt, Sle,
        ]
    };

    fn operator(op: Op, bits: u32) -> Operator {
        Operator { op, bits: bits as u8, operand_bits: bits as u8, low: 0 }
    }

    /// What Rust's own operators make of two numbers of a type, division by zero and shifts by too
    /// much as in SMT-LIB.
    macro_rules! native {
        ($name:ident, $unsigned:ty, $signed:ty) => {
            fn $name(op: Op, a: $unsigned, b: $unsigned) -> u128 {
                use Op::*;
                let (sa, sb) = (a as $signed, b as $signed);
                let amount = u32::try_from(b).unwrap_or(u32::MAX);
                let number = match op {
                    Add => a.wrapping_add(b),
                    Sub => a.wrapping_sub(b),
                    Mul => a.wrapping_mul(b),
                    UDiv => a.checked_div(b).unwrap_or(<$unsigned>::MAX),
                    SDiv if b == 0 => (if sa < 0 { 1 } else { -1 }) as $signed as $unsigned,
                    SDiv => sa.wrapping_div(sb) as $unsigned,
                    URem => a.checked_rem(b).unwrap_or(a),
                    SRem if b == 0 => a,
                    SRem => sa.wrapping_rem(sb) as $unsigned,
                    And => a & b,
                    Or => a | b,
                    Xor => a ^ b,
                    Shl => a.checked_shl(amount).unwrap_or(0),
                    LShr => a.checked_shr(amount).unwrap_or(0),
                    AShr => {
                        sa.checked_shr(amount).unwrap_or(if sa < 0 { -1 } else { 0 }) as $unsigned
                    }
                    Eq => (a == b).into(),
                    Ult => (a < b).into(),
                    Ule => (a <= b).into(),
                    Slt => (sa < sb).into(),
                    Sle => (sa <= sb).into(),
                    Not => !a,
                    Bswap => a.swap_bytes(),
                    Ctpop => a.count_ones() as $unsigned,
                    Ctlz => a.leading_zeros() as $unsigned,
                    Cttz => a.trailing_zeros() as $unsigned,
                    _ => 0,
                };
                number as u128
            }
        };
    }

    native!(of_8, u8, i8);
    native!(of_16, u16, i16);
    native!(of_32, u32, i32);
    native!(of_64, u64, i64);
    native!(of_128, u128, i128);

    fn native(op: Op, bits: u32, a: u128, b: u128) -> u128 {
        match bits {
            8 => of_8(op, a as u8, b as u8),
            16 => of_16(op, a as u16, b as u16),
            32 => of_32(op, a as u32, b as u32),
            64 => of_64(op, a as u64, b as u64),
            _ => of_128(op, a, b),
        }
    }

    /// The values that both words give, which are equal.
    fn applied(operator: Operator, [a, b, c]: [u128; 3]) -> u128 {
        let wide = wide::apply(operator, a, b, c);
        if operator.bits.max(operator.operand_bits) <= 64 {
            assert_eq!(u128::from(narrow::apply(operator, a as u64, b as u64, c as u64)), wide);
        }
        wide
    }

    /// Small numbers, those next to the ends, and any.
    fn number() -> impl Strategy<Value = u128> {
        prop_oneof![
            0u128..70,
            (0u128..4).prop_map(|n| u128::MAX - n),
            any::<u128>(),
            Just(1 << 127)
        ]
    }

    proptest! {
        #[test]
        fn operators_are_those_of_rust(
            a in number(), b in number(), bits in prop::sample::select(&[8, 16, 32, 64, 128][..]),
        ) {
            let (a, b) = (a & wide::mask(bits), b & wide::mask(bits));
            let unary = [Op::Not, Op::Bswap, Op::Ctpop, Op::Ctlz, Op::Cttz];
            for op in BINARY.into_iter().chain(unary) {
                let value = applied(operator(op, bits), [a, b, 0]);
                prop_assert_eq!(value, native(op, bits, a, b), "{:?} of {} bits", op, bits);
            }
        }

        /// Of as many bits as there are, operators are those on extended numbers.
        #[test]
        fn operators_of_any_width_are_those_of_128_bits(a in number(), b in number(), bits in 1u32..=64) {
            let (a, b) = (a & wide::mask(bits), b & wide::mask(bits));
            let [sa, sb] = [a, b].map(|x| wide::sign_extend(x, bits) as u128);
            for op in BINARY {
                let value = applied(operator(op, bits), [a, b, 0]);
                let is_signed = matches!(op, Op::SDiv | Op::SRem | Op::Slt | Op::Sle);
                let expected = match op {
                    Op::AShr => of_128(op, sa, b),
                    Op::Shl | Op::LShr if b >= u128::from(bits) => 0,
                    _ if is_signed => of_128(op, sa, sb),
                    _ => of_128(op, a, b),
                };
                prop_assert_eq!(value, expected & wide::mask(bits), "{:?} of {} bits", op, bits);
            }
        }

        #[test]
        fn what_is_put_together_comes_apart(high in any::<u64>(), low in any::<u64>(), bits in 1u8..64) {
            let mask = |value: u64, bits: u8| u128::from(value & narrow::mask(bits.into()));
            let (high, low) = (mask(high, bits), mask(low, 64 - bits));
            let concat = Operator { op: Op::Concat, bits: 64, operand_bits: bits, low: 0 };
            let both = applied(concat, [high, low, 0]);
            let extract = |bits, low| Operator { op: Op::Extract, bits, operand_bits: 64, low };
            prop_assert_eq!(applied(extract(bits, 64 - bits), [both, 0, 0]), high);
            prop_assert_eq!(applied(extract(64 - bits, 0), [both, 0, 0]), low);
            let extended = |op| applied(Operator { op, bits: 64, operand_bits: bits, low: 0 }, [high, 0, 0]);
            let sign = wide::sign_extend(high, bits.into()) as u64;
            prop_assert_eq!(extended(Op::SExt), u128::from(sign));
            prop_assert_eq!(extended(Op::ZExt), high);
            let chosen = |condition| applied(operator(Op::Ite, 64), [condition, high, low]);
            prop_assert_eq!((chosen(1), chosen(0)), (high, low));
        }
    }
}
