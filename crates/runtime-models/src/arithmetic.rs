//! Small functions of numbers: absolute values, quotients with remainders, and byte order.

use super::logic::*;
use super::table::real;
use super::{answer, guarded};
use core::ffi::{c_int, c_long};
use runtime_core::build::{self, Value};
use runtime_core::calls::{self, Args, call_site};
use runtime_core::state::Run;
use runtime_core::{events, nodes};
use trace::{CheckKind, Label, Op};

/// Answers with what `expression` makes of the first argument, if that is symbolic.
#[inline(always)]
fn answer_of(labels: &Args, x: u64, expression: impl FnOnce(Value) -> Label) {
    answer(0);
    if labels.label(0) != 0 {
        guarded(|_| answer(expression(Value::new(labels.label(0), x))));
    }
}

/// `if x < 0 { 0 - x } else { x }`
fn absolute(run: &Run, bits: u32, x: Value) -> Label {
    let negative = apply_to(run, Op::Slt, bits, x, 0);
    choose(run, bits, negative, apply(run, Op::Sub, bits, FALSE, x), x).label
}

/// `abs`
pub(super) fn absolute_int(run: &Run, labels: &Args, x: c_int) -> c_int {
    answer_of(labels, x as u32 as u64, |x| absolute(run, 32, x));
    x.wrapping_abs()
}

/// `labs`
pub(super) fn absolute_long(run: &Run, labels: &Args, x: c_long) -> c_long {
    answer_of(labels, x as u64, |x| absolute(run, 64, x));
    x.wrapping_abs()
}

/// `ntohs`
pub(super) fn swapped_short(run: &Run, labels: &Args, x: u16) -> u16 {
    answer_of(labels, x as u64, |x| build::unary(run, Op::Bswap, 16, x));
    x.swap_bytes()
}

/// `ntohl`
pub(super) fn swapped_word(run: &Run, labels: &Args, x: u32) -> u32 {
    answer_of(labels, x as u64, |x| build::unary(run, Op::Bswap, 32, x));
    x.swap_bytes()
}

/// `div_t`: one register holds both fields.
#[repr(C)]
pub struct Division {
    quotient: c_int,
    remainder: c_int,
}

/// `ldiv_t`
#[repr(C)]
pub struct LongDivision {
    quotient: c_long,
    remainder: c_long,
}

/// Quotient and remainder; a division by 0 is asked for before it happens.
fn divided(run: &Run, labels: &Args, bits: u32, a: u64, b: u64) -> (Value, Value) {
    let (a, b) = (Value::new(labels.label(0), a), Value::new(labels.label(1), b));
    let by_zero = apply_to(run, Op::Eq, bits, b, 0);
    events::check(run, by_zero.label, CheckKind::DivisionByZero, call_site());
    (apply(run, Op::SDiv, bits, a, b), apply(run, Op::SRem, bits, a, b))
}

/// `div`
pub(super) fn division(_: &Run, labels: &Args, a: c_int, b: c_int) -> Division {
    let joined = |run: &Run| {
        let (quotient, remainder) = divided(run, labels, 32, a as u32 as u64, b as u32 as u64);
        let whole = remainder.value << 32 | quotient.value;
        nodes::concat(run, remainder.node(run, 32), quotient.node(run, 32), 64, whole)
    };
    let label = if labels.any() { guarded(joined).unwrap_or(0) } else { 0 };
    // SAFETY: the program's own division, with its own operands.
    let result = unsafe { real::div(a, b) };
    answer(label);
    result
}

/// `ldiv`
pub(super) fn long_division(_: &Run, labels: &Args, a: c_long, b: c_long) -> LongDivision {
    let both = |run: &Run| divided(run, labels, 64, a as u64, b as u64);
    let both = if labels.any() { guarded(both) } else { None };
    let (quotient, remainder) = both.unwrap_or((FALSE, FALSE));
    // SAFETY: as above.
    let result = unsafe { real::ldiv(a, b) };
    calls::__tgi_send_result(0, quotient.label);
    calls::__tgi_send_result(1, remainder.label);
    result
}
