//! Expressions together with their values, as models combine them. All functions need the runtime's
//! guard.

use super::call_site;
use super::element::Element;
use crate::build::{self, Value};
use crate::events;
use crate::values::{self, mask};
pub(super) use trace::ByteSet;
use trace::Op;

pub(super) const FALSE: Value = Value::concrete(0);
pub(super) const TRUE: Value = Value::concrete(1);

/// `a op b`
pub(super) unsafe fn apply(op: Op, bits: u32, a: Value, b: Value) -> Value {
    let value = values::binary(op, bits, a.value & mask(bits), b.value & mask(bits));
    unsafe { Value::new(build::binary(op, bits, a, b), value) }
}

/// `a op constant`
pub(super) unsafe fn apply_to(op: Op, bits: u32, a: Value, constant: u64) -> Value {
    unsafe { apply(op, bits, a, Value::concrete(constant)) }
}

/// `byte == wanted`
pub(super) unsafe fn is(byte: Value, wanted: u8) -> Value {
    unsafe { apply_to(Op::Eq, 8, byte, wanted as u64) }
}

/// `from <= byte <= to`
pub(super) unsafe fn within(byte: Value, from: u8, to: u8) -> Value {
    unsafe { within_bits(8, byte, from, to) }
}

/// The same for an element of so many bits.
unsafe fn within_bits(bits: u32, element: Value, from: u8, to: u8) -> Value {
    unsafe {
        if from == to {
            return apply_to(Op::Eq, bits, element, from.into());
        }
        if from == 0 {
            return apply_to(Op::Ule, bits, element, to.into());
        }
        let offset = apply_to(Op::Sub, bits, element, from.into());
        apply_to(Op::Ule, bits, offset, (to - from).into())
    }
}

/// An ASCII letter in lower case, other elements as they are.
pub(super) unsafe fn lower<E: Element>(c: Value) -> Value {
    unsafe {
        let is_upper = within_bits(E::BITS, c, b'A', b'Z');
        choose(E::BITS, is_upper, apply_to(Op::Or, E::BITS, c, 0x20), c)
    }
}

pub(super) unsafe fn either(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value { label: 0, value: 1 }, _) | (_, Value { label: 0, value: 0 }) => a,
        (Value { label: 0, .. }, _) | (_, Value { label: 0, .. }) => b,
        _ => unsafe { apply(Op::Or, 1, a, b) },
    }
}

pub(super) unsafe fn both(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value { label: 0, value: 0 }, _) | (_, Value { label: 0, value: 1 }) => a,
        (Value { label: 0, .. }, _) | (_, Value { label: 0, .. }) => b,
        _ => unsafe { apply(Op::And, 1, a, b) },
    }
}

pub(super) unsafe fn negated(a: Value) -> Value {
    unsafe { Value::new(build::not(1, a), a.value ^ 1) }
}

/// `if condition { yes } else { no }`
pub(super) unsafe fn choose(bits: u32, condition: Value, yes: Value, no: Value) -> Value {
    let value = if condition.value & 1 == 1 { yes.value } else { no.value } & mask(bits);
    unsafe { Value::new(build::ite(bits, condition, yes, no), value) }
}

pub(super) unsafe fn zero_extended(from: u32, to: u32, x: Value) -> Value {
    unsafe { Value::new(build::zext(from, to, x), x.value & mask(from)) }
}

pub(super) unsafe fn truncated(to: u32, x: Value) -> Value {
    unsafe { Value::new(build::trunc(to, x), x.value & mask(to)) }
}

/// Records a branch on `condition` at the site of the call; says which way it goes.
pub(super) unsafe fn branch_on(condition: Value) -> bool {
    let taken = condition.value & 1 == 1;
    unsafe { events::branch(condition.label, taken, call_site()) };
    taken
}

/// White space of the C locale.
pub(super) unsafe fn is_space(c: Value) -> Value {
    unsafe { either(is(c, b' '), within(c, b'\t', b'\r')) }
}

/// Membership of symbolic bytes.
pub(super) trait Membership {
    /// `byte in set`: one comparison for each run of neighbours.
    unsafe fn holds(&self, byte: Value) -> Value;
}

impl Membership for ByteSet {
    unsafe fn holds(&self, byte: Value) -> Value {
        if byte.label == 0 {
            return Value::concrete(self.contains(byte.value as u8) as u64);
        }
        // SAFETY: the caller holds the guard.
        self.ranges().fold(FALSE, |found, (from, to)| unsafe { either(found, within(byte, from, to)) })
    }
}
