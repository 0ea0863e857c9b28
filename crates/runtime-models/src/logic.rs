//! Expressions together with their values, as models combine them. All functions need the runtime's
//! guard.

use super::element::Element;
use runtime_core::build::{self, Value};
use runtime_core::calls::call_site;
use runtime_core::events;
use runtime_core::state::Run;
use runtime_core::values::{self, mask};
pub(super) use trace::ByteSet;
use trace::Op;

pub(super) const FALSE: Value = Value::concrete(0);
pub(super) const TRUE: Value = Value::concrete(1);

/// `a op b`
pub(super) fn apply(run: &Run, op: Op, bits: u32, a: Value, b: Value) -> Value {
    let value = values::binary(op, bits, a.value & mask(bits), b.value & mask(bits));
    Value::new(build::binary(run, op, bits, a, b), value)
}

/// `a op constant`
pub(super) fn apply_to(run: &Run, op: Op, bits: u32, a: Value, constant: u64) -> Value {
    apply(run, op, bits, a, Value::concrete(constant))
}

/// `byte == wanted`
pub(super) fn is(run: &Run, byte: Value, wanted: u8) -> Value {
    apply_to(run, Op::Eq, 8, byte, wanted as u64)
}

/// `from <= byte <= to`
pub(super) fn within(run: &Run, byte: Value, from: u8, to: u8) -> Value {
    within_bits(run, 8, byte, from, to)
}

/// The same for an element of so many bits.
fn within_bits(run: &Run, bits: u32, element: Value, from: u8, to: u8) -> Value {
    if from == to {
        return apply_to(run, Op::Eq, bits, element, from.into());
    }
    if from == 0 {
        return apply_to(run, Op::Ule, bits, element, to.into());
    }
    let offset = apply_to(run, Op::Sub, bits, element, from.into());
    apply_to(run, Op::Ule, bits, offset, (to - from).into())
}

/// An ASCII letter in lower case, other elements as they are.
pub(super) fn lower<E: Element>(run: &Run, c: Value) -> Value {
    let is_upper = within_bits(run, E::BITS, c, b'A', b'Z');
    choose(run, E::BITS, is_upper, apply_to(run, Op::Or, E::BITS, c, 0x20), c)
}

pub(super) fn either(run: &Run, a: Value, b: Value) -> Value {
    match (a, b) {
        (Value { label: 0, value: 1 }, _) | (_, Value { label: 0, value: 0 }) => a,
        (Value { label: 0, .. }, _) | (_, Value { label: 0, .. }) => b,
        _ => apply(run, Op::Or, 1, a, b),
    }
}

pub(super) fn both(run: &Run, a: Value, b: Value) -> Value {
    match (a, b) {
        (Value { label: 0, value: 0 }, _) | (_, Value { label: 0, value: 1 }) => a,
        (Value { label: 0, .. }, _) | (_, Value { label: 0, .. }) => b,
        _ => apply(run, Op::And, 1, a, b),
    }
}

pub(super) fn negated(run: &Run, a: Value) -> Value {
    Value::new(build::not(run, 1, a), a.value ^ 1)
}

/// `if condition { yes } else { no }`
pub(super) fn choose(run: &Run, bits: u32, condition: Value, yes: Value, no: Value) -> Value {
    let value = if condition.value & 1 == 1 { yes.value } else { no.value } & mask(bits);
    Value::new(build::ite(run, bits, condition, yes, no), value)
}

pub(super) fn zero_extended(run: &Run, from: u32, to: u32, x: Value) -> Value {
    Value::new(build::zext(run, from, to, x), x.value & mask(from))
}

pub(super) fn truncated(run: &Run, to: u32, x: Value) -> Value {
    Value::new(build::trunc(run, to, x), x.value & mask(to))
}

/// Records a branch on `condition` at the site of the call; says which way it goes.
pub(super) fn branch_on(run: &Run, condition: Value) -> bool {
    let taken = condition.value & 1 == 1;
    events::branch(run, condition.label, taken, call_site());
    taken
}

/// White space of the C locale.
pub(super) fn is_space(run: &Run, c: Value) -> Value {
    either(run, is(run, c, b' '), within(run, c, b'\t', b'\r'))
}

/// Membership of symbolic bytes.
pub(super) trait Membership {
    /// `byte in set`: one comparison for each run of neighbours.
    fn holds(&self, run: &Run, byte: Value) -> Value;
}

impl Membership for ByteSet {
    fn holds(&self, run: &Run, byte: Value) -> Value {
        if byte.label == 0 {
            return Value::concrete(self.contains(byte.value as u8) as u64);
        }
        self.ranges()
            .fold(FALSE, |found, (from, to)| either(run, found, within(run, byte, from, to)))
    }
}
