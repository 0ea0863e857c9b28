//! Expressions together with their values, as models combine them. All functions need the runtime's guard.

use super::call_site;
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
    unsafe {
        if from == to {
            return is(byte, from);
        }
        if from == 0 {
            return apply_to(Op::Ule, 8, byte, to as u64);
        }
        let offset = apply_to(Op::Sub, 8, byte, from as u64);
        apply_to(Op::Ule, 8, offset, (to - from) as u64)
    }
}

pub(super) unsafe fn either(a: Value, b: Value) -> Value {
    unsafe {
        match (a.label, b.label) {
            (0, _) => {
                if a.value == 1 {
                    a
                } else {
                    b
                }
            }
            (_, 0) => {
                if b.value == 1 {
                    b
                } else {
                    a
                }
            }
            _ => apply(Op::Or, 1, a, b),
        }
    }
}

pub(super) unsafe fn both(a: Value, b: Value) -> Value {
    unsafe {
        match (a.label, b.label) {
            (0, _) => {
                if a.value == 1 {
                    b
                } else {
                    a
                }
            }
            (_, 0) => {
                if b.value == 1 {
                    a
                } else {
                    b
                }
            }
            _ => apply(Op::And, 1, a, b),
        }
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
pub(super) unsafe fn ask(condition: Value) -> bool {
    let taken = condition.value & 1 == 1;
    unsafe { events::branch(condition.label, taken, call_site()) };
    taken
}

/// White space of the C locale.
pub(super) unsafe fn is_space(c: Value) -> Value {
    unsafe { either(is(c, b' '), within(c, b'\t', b'\r')) }
}

/// A letter in lower case, other bytes as they are, as in every locale whose conversion table is [`ascii_case`].
pub(super) unsafe fn lower(c: Value) -> Value {
    unsafe { choose(8, within(c, b'A', b'Z'), apply_to(Op::Or, 8, c, 0x20), c) }
}

/// True if the current locale's conversion to lower case changes ASCII letters only.
pub(super) unsafe fn ascii_case() -> bool {
    unsafe extern "C" {
        fn __ctype_tolower_loc() -> *mut *const i32;
    }
    // SAFETY: the table has entries for -128 to 255.
    unsafe {
        let table = *__ctype_tolower_loc();
        (0..256).all(|c| *table.add(c) == (c as u8).to_ascii_lowercase() as i32)
    }
}

/// What models ask of sets of bytes.
pub(super) trait Members {
    /// The bytes of a string.
    unsafe fn of_string(text: *const u8) -> Self;

    /// `byte in set`: one comparison for each run of neighbours.
    unsafe fn holds(&self, byte: Value) -> Value;
}

impl Members for ByteSet {
    unsafe fn of_string(mut text: *const u8) -> ByteSet {
        let mut set = ByteSet::EMPTY;
        // SAFETY: the string ends with 0.
        unsafe {
            while *text != 0 {
                set.insert(*text);
                text = text.add(1);
            }
        }
        set
    }

    unsafe fn holds(&self, byte: Value) -> Value {
        if byte.label == 0 {
            return Value::concrete(self.contains(byte.value as u8) as u64);
        }
        // SAFETY: the caller holds the guard.
        self.ranges().fold(FALSE, |found, (from, to)| unsafe { either(found, within(byte, from, to)) })
    }
}
