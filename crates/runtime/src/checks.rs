//! Properties that a run could violate with other input: conditions that say "this would be a bug".
//!
//! A check costs a question to the solver, so nothing is asked where the operands are too small to do harm.

use crate::build::{self, Value};
use crate::calls::Args;
use crate::events::check;
use crate::shapes::answers::Question;
use crate::state::{self, active};
use crate::{nodes, shadow, values};
use trace::{CheckKind, Label, Op};

/// Allocations beyond this are taken for mistakes, as sanitizers do.
const MOST_MEMORY: u64 = trace::MOST_MEMORY;
/// Addresses below this are never mapped.
const FIRST_PAGE: u64 = 4096;
/// How much of a format is looked at.
const MOST_FORMAT: usize = 4096;
/// How deep an expression is looked into for the size of its values.
const DEPTH: u32 = 6;

/// `a op b` in C's signed arithmetic, `op` being an addition, subtraction or multiplication.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_signed(op: u32, bits: u32, la: Label, lb: Label, a: u64, b: u64, site: u32) {
    unsafe {
        if la | lb == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let op = build::operator(op);
        let (a, b) = (Value::new(la, a), Value::new(lb, b));
        let violated = match Question::overflow(op, bits, a, b) {
            Some(question) => question.answer(|| overflows(op, bits, a, b)),
            None => overflows(op, bits, a, b),
        };
        check(violated, CheckKind::SignedOverflow, site);
    }
}

/// The condition that `a op b` is not what it is in more bits; 0 if it always is.
unsafe fn overflows(op: Op, bits: u32, a: Value, b: Value) -> Label {
    unsafe {
        let (left, right) = (signed_width(a, bits, DEPTH), signed_width(b, bits, DEPTH));
        let needed = if op == Op::Mul { left + right } else { left.max(right) + 1 };
        if needed <= bits {
            return 0;
        }
        if bits <= 32 { wide_differs(op, bits, a, b) } else { sign_differs(op, bits, a, b) }
    }
}

/// The result in twice the width is not the extension of the result.
unsafe fn wide_differs(op: Op, bits: u32, a: Value, b: Value) -> Label {
    unsafe {
        let wide = 2 * bits;
        let extend = |x: Value| {
            Value::new(build::sext(bits, wide, x), sign_extended(x.value, bits) & values::mask(wide))
        };
        let result = apply(op, wide, extend(a), extend(b));
        let narrow = Value::new(build::trunc(bits, result), result.value & values::mask(bits));
        let same = equal(wide, result, extend(narrow));
        build::not(1, same)
    }
}

/// For sums of 64 bits: both operands (the second negated for a difference) have a sign that the result lacks.
unsafe fn sign_differs(op: Op, bits: u32, a: Value, b: Value) -> Label {
    unsafe {
        if op == Op::Mul {
            return 0;
        }
        let result = apply(op, bits, a, b);
        let first = apply(Op::Xor, bits, a, result);
        let second = if op == Op::Add { apply(Op::Xor, bits, b, result) } else { apply(Op::Xor, bits, a, b) };
        let both = apply(Op::And, bits, first, second);
        build::binary(Op::Slt, bits, both, Value::concrete(0))
    }
}

unsafe fn apply(op: Op, bits: u32, a: Value, b: Value) -> Value {
    unsafe {
        let value = values::binary(op, bits, a.value & values::mask(bits), b.value & values::mask(bits));
        Value::new(build::binary(op, bits, a, b), value)
    }
}

unsafe fn equal(bits: u32, a: Value, b: Value) -> Value {
    unsafe { apply(Op::Eq, bits, a, b) }
}

fn sign_extended(value: u64, bits: u32) -> u64 {
    values::sign_extend(value, bits) as u64
}

/// Bits that hold every value of an expression as a signed number, as far as its structure tells.
unsafe fn signed_width(x: Value, bits: u32, depth: u32) -> u32 {
    unsafe {
        if x.label == 0 {
            let value = sign_extended(x.value, bits) as i64;
            return 65 - (if value < 0 { !value } else { value }).leading_zeros();
        }
        let node = nodes::node(x.label);
        let of = |label: Label| {
            Value::new(if nodes::as_constant(label).is_some() { 0 } else { label }, nodes::value(label))
        };
        let below = |label: Label| signed_width(of(label), nodes::bits(label), depth - 1);
        let known = match Op::from_byte(node.op) {
            Some(Op::ZExt) => nodes::bits(node.a) + 1,
            Some(Op::SExt) if depth > 0 => below(node.a),
            Some(Op::Add | Op::Sub) if depth > 0 => below(node.a).max(below(node.b)) + 1,
            Some(Op::Mul) if depth > 0 => below(node.a) + below(node.b),
            Some(Op::And) if depth > 0 => mask_width(node.a).min(mask_width(node.b)),
            _ => bits,
        };
        known.min(bits)
    }
}

/// Bits of a constant mask that keeps values from being negative.
unsafe fn mask_width(label: Label) -> u32 {
    unsafe { nodes::as_constant(label).map_or(u32::MAX, |mask| 65 - mask.leading_zeros()) }
}

/// A shift of `bits` bits by `amount`.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_shift(bits: u32, label: Label, amount: u64, site: u32) {
    unsafe {
        if label == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let last = Value::concrete(bits as u64 - 1);
        check(build::binary(Op::Ult, bits, last, Value::new(label, amount)), CheckKind::ShiftTooFar, site);
    }
}

/// An allocation of `count * size` bytes, whose labels are in the slots of `args`.
pub(crate) unsafe fn allocation(args: &Args, slots: [usize; 2], count: u64, size: u64) {
    unsafe {
        if !args.any() {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        for (slot, value, other) in [(slots[0], count, size), (slots[1], size, count)] {
            allocation_size(Value::new(args.label(slot), value), other, crate::models::call_site());
        }
    }
}

/// An allocation of `count` objects of this size, with the guard held.
pub(crate) unsafe fn allocation_size(size: Value, count: u64, site: u32) {
    unsafe {
        let most = Value::concrete(MOST_MEMORY / count.max(1));
        check(build::binary(Op::Ult, 64, most, size), CheckKind::AllocationSize, site);
    }
}

/// An access at an address that depends on the input and lies in no known object, with the guard held.
pub(crate) unsafe fn pointer(label: Label, address: usize, site: u32) {
    unsafe {
        let violated =
            build::binary(Op::Ult, 64, Value::new(label, address as u64), Value::concrete(FIRST_PAGE));
        check(violated, CheckKind::Pointer, site);
    }
}

/// A format of the `printf` family that is no constant: with input in it, `%n` writes to memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_format(format: *const u8, site: u32) {
    unsafe {
        if !active() || format.is_null() {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let at = |i: usize| Value::new(shadow::label_of_byte(format as usize + i), *format.add(i) as u64);
        let mut i = 0;
        while i < MOST_FORMAT && *format.add(i) != 0 && *format.add(i + 1) != 0 {
            let (percent, letter) = (at(i), at(i + 1));
            if percent.label != 0 && letter.label != 0 {
                let starts = equal(8, percent, Value::concrete(b'%' as u64));
                let writes = equal(8, letter, Value::concrete(b'n' as u64));
                check(apply(Op::And, 1, starts, writes).label, CheckKind::FormatString, site);
                return;
            }
            i += 1;
        }
    }
}
