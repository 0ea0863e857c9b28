//! Floating-point expressions. The results' values come from the program itself, so that they are exactly what
//! the hardware computed.

use crate::{nodes, state};
use trace::{GiveUp, Label, Node, Op};

/// Operators and comparisons on floats of `bits` bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_float(
    op: u32,
    bits: u32,
    la: Label,
    lb: Label,
    a: u64,
    b: u64,
    result: u64,
) -> Label {
    unsafe {
        if la | lb == 0 {
            return 0;
        }
        let Some(_entered) = state::enter() else { return 0 };
        let op = crate::build::operator(op);
        let left = if la == 0 { nodes::constant(bits, a) } else { la };
        let right = if lb == 0 { nodes::constant(bits, b) } else { lb };
        if left == 0 || right == 0 {
            return 0;
        }
        let comparison = matches!(op, Op::FEq | Op::FLt | Op::FLe | Op::FUno);
        nodes::make(Node::binary(op, if comparison { 1 } else { bits as u8 }, left, right), result)
    }
}

/// Conversions and square root; `to` is the width of the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_float_unary(op: u32, to: u32, label: Label, result: u64) -> Label {
    unsafe {
        if label == 0 {
            return 0;
        }
        let Some(_entered) = state::enter() else { return 0 };
        let op = crate::build::operator(op);
        if matches!(op, Op::FToS | Op::FToU) && !fits(op, to, label) {
            state::count_give_up(GiveUp::Float);
            return 0;
        }
        nodes::make(Node::unary(op, to as u8, label), result)
    }
}

/// Whether the integer part of a float is an integer of `bits` bits. Otherwise the conversion has no defined result.
unsafe fn fits(op: Op, bits: u32, label: Label) -> bool {
    unsafe {
        let value = nodes::value(label);
        let x = if nodes::bits(label) == 32 {
            f64::from(f32::from_bits(value as u32))
        } else {
            f64::from_bits(value)
        };
        let limit = |bits: u32| (1u128 << bits) as f64;
        match op {
            Op::FToS => (x >= -limit(bits - 1) || x > -limit(bits - 1) - 1.0) && x < limit(bits - 1),
            _ => x > -1.0 && x < limit(bits),
        }
    }
}
