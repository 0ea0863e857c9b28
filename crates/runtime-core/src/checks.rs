//! Properties that a run could violate with other input: conditions that say "this would be a
//! bug".
//!
//! A check costs a question to the solver, so nothing is asked where the operands are too small to
//! do harm.

use crate::build::{self, Value};
use crate::calls::{Args, call_site};
use crate::events::check;
use crate::memory::byte;
use crate::shapes::memo::Lookup;
use crate::state::{self, Run, active};
use crate::{nodes, shadow, values};
use trace::{CheckKind, Label, Op};

/// Allocations beyond this are taken for mistakes, as sanitizers do.
const MAX_MEMORY: u64 = trace::MAX_MEMORY;
/// Addresses below this are never mapped.
const FIRST_PAGE: u64 = 4096;
/// How much of a format is looked at.
const MAX_FORMAT: usize = 4096;
/// How deep an expression is looked into for the size of its values.
const DEPTH: u32 = 6;

/// `a op b` in C's signed arithmetic, `op` being an addition, subtraction or multiplication.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_signed(op: u32, bits: u32, la: Label, lb: Label, a: u64, b: u64, site: u32) {
    let run = Run::current();
    if la | lb == 0 {
        return;
    }
    let Some(_entered) = state::enter(run) else { return };
    let op = build::operator(op);
    let (a, b) = (Value::new(la, a), Value::new(lb, b));
    let violated = match Lookup::overflow(run, op, bits, a, b) {
        Some(lookup) => lookup.find_or_build(run, || overflows(run, op, bits, a, b)),
        None => overflows(run, op, bits, a, b),
    };
    check(run, violated, CheckKind::SignedOverflow, site);
}

/// The condition that `a op b` is not what it is in more bits; 0 if it always is.
fn overflows(run: &Run, op: Op, bits: u32, a: Value, b: Value) -> Label {
    let (left, right) = (signed_width(run, a, bits, DEPTH), signed_width(run, b, bits, DEPTH));
    let needed = if op == Op::Mul { left + right } else { left.max(right) + 1 };
    if needed <= bits {
        return 0;
    }
    if bits <= 32 { wide_differs(run, op, bits, a, b) } else { sign_differs(run, op, bits, a, b) }
}

/// The result in twice the width is not the extension of the result.
fn wide_differs(run: &Run, op: Op, bits: u32, a: Value, b: Value) -> Label {
    let wide = 2 * bits;
    let extend = |x: Value| {
        Value::new(
            build::sext(run, bits, wide, x),
            sign_extended(x.value, bits) & values::mask(wide),
        )
    };
    let result = apply(run, op, wide, extend(a), extend(b));
    let narrow = Value::new(build::trunc(run, bits, result), result.value & values::mask(bits));
    let same = equal(run, wide, result, extend(narrow));
    build::not(run, 1, same)
}

/// For sums of 64 bits: both operands (the second negated for a difference) have a sign that the
/// result lacks.
fn sign_differs(run: &Run, op: Op, bits: u32, a: Value, b: Value) -> Label {
    if op == Op::Mul {
        return 0;
    }
    let result = apply(run, op, bits, a, b);
    let first = apply(run, Op::Xor, bits, a, result);
    let second = if op == Op::Add {
        apply(run, Op::Xor, bits, b, result)
    } else {
        apply(run, Op::Xor, bits, a, b)
    };
    let both = apply(run, Op::And, bits, first, second);
    build::binary(run, Op::Slt, bits, both, Value::concrete(0))
}

fn apply(run: &Run, op: Op, bits: u32, a: Value, b: Value) -> Value {
    let value =
        values::binary(op, bits, a.value & values::mask(bits), b.value & values::mask(bits));
    Value::new(build::binary(run, op, bits, a, b), value)
}

fn equal(run: &Run, bits: u32, a: Value, b: Value) -> Value {
    apply(run, Op::Eq, bits, a, b)
}

fn sign_extended(value: u64, bits: u32) -> u64 {
    values::sign_extend(value, bits) as u64
}

/// Bits that hold every value of an expression as a signed number, as far as its structure tells.
fn signed_width(run: &Run, x: Value, bits: u32, depth: u32) -> u32 {
    if x.label == 0 {
        let value = sign_extended(x.value, bits) as i64;
        return 65 - (if value < 0 { !value } else { value }).leading_zeros();
    }
    let node = nodes::node(run, x.label);
    let of = |label: Label| {
        Value::new(
            if nodes::as_constant(run, label).is_some() { 0 } else { label },
            nodes::value(run, label),
        )
    };
    let below = |label: Label| signed_width(run, of(label), nodes::bits(run, label), depth - 1);
    let known = match Op::from_byte(node.op) {
        Some(Op::ZExt) => nodes::bits(run, node.a) + 1,
        Some(Op::SExt) if depth > 0 => below(node.a),
        Some(Op::Add | Op::Sub) if depth > 0 => below(node.a).max(below(node.b)) + 1,
        Some(Op::Mul) if depth > 0 => below(node.a) + below(node.b),
        Some(Op::And) if depth > 0 => mask_width(run, node.a).min(mask_width(run, node.b)),
        _ => bits,
    };
    known.min(bits)
}

/// Bits of a constant mask that keeps values from being negative.
fn mask_width(run: &Run, label: Label) -> u32 {
    nodes::as_constant(run, label).map_or(u32::MAX, |mask| 65 - mask.leading_zeros())
}

/// A shift of `bits` bits by `amount`.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_shift(bits: u32, label: Label, amount: u64, site: u32) {
    let run = Run::current();
    if label == 0 {
        return;
    }
    let Some(_entered) = state::enter(run) else { return };
    let last = Value::concrete(bits as u64 - 1);
    let too_far = build::binary(run, Op::Ult, bits, last, Value::new(label, amount));
    check(run, too_far, CheckKind::ShiftTooFar, site);
}

/// An allocation of `count * size` bytes, whose labels are in the slots of `args`.
pub fn allocation(run: &Run, args: &Args, slots: [usize; 2], count: u64, size: u64) {
    if !args.any() {
        return;
    }
    let Some(_entered) = state::enter(run) else { return };
    for (slot, value, other) in [(slots[0], count, size), (slots[1], size, count)] {
        allocation_size(run, Value::new(args.label(slot), value), other, call_site());
    }
}

/// An allocation of `count` objects of this size, with the guard held.
pub fn allocation_size(run: &Run, size: Value, count: u64, site: u32) {
    let most = Value::concrete(MAX_MEMORY / count.max(1));
    check(run, build::binary(run, Op::Ult, 64, most, size), CheckKind::AllocationSize, site);
}

/// An access at an address that depends on the input and lies in no known object, with the guard
/// held.
pub(crate) fn pointer(run: &Run, label: Label, address: usize, site: u32) {
    let violated = build::binary(
        run,
        Op::Ult,
        64,
        Value::new(label, address as u64),
        Value::concrete(FIRST_PAGE),
    );
    check(run, violated, CheckKind::Pointer, site);
}

/// A format of the `printf` family that is no constant: with input in it, `%n` writes to memory.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_format(format: *const u8, site: u32) {
    let run = Run::current();
    if !active(run) || format.is_null() {
        return;
    }
    let Some(_entered) = state::enter(run) else { return };
    let format = format as usize;
    let at = |i: usize| Value::new(shadow::label_of_byte(run, format + i), byte(format + i) as u64);
    let mut i = 0;
    while i < MAX_FORMAT && byte(format + i) != 0 && byte(format + i + 1) != 0 {
        let (percent, letter) = (at(i), at(i + 1));
        if percent.label != 0 && letter.label != 0 {
            let starts = equal(run, 8, percent, Value::concrete(b'%' as u64));
            let writes = equal(run, 8, letter, Value::concrete(b'n' as u64));
            check(run, apply(run, Op::And, 1, starts, writes).label, CheckKind::FormatString, site);
            return;
        }
        i += 1;
    }
}

/// Division of `bits` bits: neither by zero nor, if signed, of the smallest value by -1.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_division(
    la: Label,
    lb: Label,
    a: u64,
    b: u64,
    bits: u32,
    signed: u32,
    site: u32,
) {
    if la | lb == 0 {
        return;
    }
    let run = Run::current();
    let Some(_entered) = state::enter(run) else { return };
    let (dividend, divisor) = (Value::new(la, a), Value::new(lb, b));
    let by_zero = equal(run, bits, divisor, Value::concrete(0));
    check(run, by_zero.label, CheckKind::DivisionByZero, site);
    if signed != 0 {
        let smallest = equal(run, bits, dividend, Value::concrete(1 << (bits - 1)));
        let by_minus_one = equal(run, bits, divisor, Value::concrete(values::mask(bits)));
        let overflows = apply(run, Op::And, 1, smallest, by_minus_one);
        check(run, overflows.label, CheckKind::DivisionOverflow, site);
    }
}
