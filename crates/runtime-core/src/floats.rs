//! Floating-point expressions. The results' values come from the program itself, so that they are
//! exactly what the hardware computed.

use crate::state::{self, Run};
use crate::{build, nodes};
use trace::{GiveUp, Label, Node, Op};

/// Operators and comparisons on floats of `bits` bits.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_float(
    op: u32,
    bits: u32,
    la: Label,
    lb: Label,
    a: u64,
    b: u64,
    result: u64,
) -> Label {
    let run = Run::current();
    if la | lb == 0 {
        return 0;
    }
    let Some(_entered) = state::enter(run) else { return 0 };
    let op = build::operator(op);
    let left = if la == 0 { nodes::constant(run, bits, a) } else { la };
    let right = if lb == 0 { nodes::constant(run, bits, b) } else { lb };
    if left == 0 || right == 0 {
        return 0;
    }
    let comparison = matches!(op, Op::FEq | Op::FLt | Op::FLe | Op::FUno);
    nodes::make(run, Node::binary(op, if comparison { 1 } else { bits as u8 }, left, right), result)
}

/// Conversions and square root; `to` is the width of the result.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_float_unary(op: u32, to: u32, label: Label, result: u64) -> Label {
    let run = Run::current();
    if label == 0 {
        return 0;
    }
    let Some(_entered) = state::enter(run) else { return 0 };
    let op = build::operator(op);
    if matches!(op, Op::FToS | Op::FToU) && !fits(run, op, to, label) {
        run.segment.count_give_up(GiveUp::Float);
        return 0;
    }
    nodes::make(run, Node::unary(op, to as u8, label), result)
}

/// Whether the integer part of a float is an integer of `bits` bits. Otherwise the conversion has
/// no defined result.
fn fits(run: &Run, op: Op, bits: u32, label: Label) -> bool {
    let value = nodes::value(run, label);
    let x = if nodes::bits(run, label) == 32 {
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
