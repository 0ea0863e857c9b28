//! Small functions of numbers: absolute values, quotients with remainders, and byte order.

use super::logic::*;
use super::table::real;
use super::{answer, call_site, guarded};
use crate::build::{self, Value};
use crate::calls::{self, Args};
use crate::{events, nodes};
use core::ffi::{c_int, c_long};
use trace::{CheckKind, Label, Op};

/// Answers with what `expression` makes of the first argument, if that is symbolic.
#[inline(always)]
unsafe fn answer_of(labels: &Args, x: u64, expression: impl FnOnce(Value) -> Label) {
    unsafe {
        answer(0);
        if labels.label(0) != 0 {
            guarded(|| answer(expression(Value::new(labels.label(0), x))));
        }
    }
}

/// `if x < 0 { 0 - x } else { x }`
unsafe fn absolute(bits: u32, x: Value) -> Label {
    unsafe {
        let negative = apply_to(Op::Slt, bits, x, 0);
        choose(bits, negative, apply(Op::Sub, bits, FALSE, x), x).label
    }
}

/// `abs`
pub(super) unsafe fn absolute_int(labels: &Args, x: c_int) -> c_int {
    unsafe {
        answer_of(labels, x as u32 as u64, |x| absolute(32, x));
        x.wrapping_abs()
    }
}

/// `labs`
pub(super) unsafe fn absolute_long(labels: &Args, x: c_long) -> c_long {
    unsafe {
        answer_of(labels, x as u64, |x| absolute(64, x));
        x.wrapping_abs()
    }
}

/// `ntohs`
pub(super) unsafe fn swapped_short(labels: &Args, x: u16) -> u16 {
    unsafe {
        answer_of(labels, x as u64, |x| build::unary(Op::Bswap, 16, x));
        x.swap_bytes()
    }
}

/// `ntohl`
pub(super) unsafe fn swapped_word(labels: &Args, x: u32) -> u32 {
    unsafe {
        answer_of(labels, x as u64, |x| build::unary(Op::Bswap, 32, x));
        x.swap_bytes()
    }
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
unsafe fn divided(labels: &Args, bits: u32, a: u64, b: u64) -> (Value, Value) {
    unsafe {
        let (a, b) = (Value::new(labels.label(0), a), Value::new(labels.label(1), b));
        let by_zero = apply_to(Op::Eq, bits, b, 0);
        events::check(by_zero.label, CheckKind::DivisionByZero, call_site());
        (apply(Op::SDiv, bits, a, b), apply(Op::SRem, bits, a, b))
    }
}

/// `div`
pub(super) unsafe fn division(labels: &Args, a: c_int, b: c_int) -> Division {
    unsafe {
        let joined = || {
            let (quotient, remainder) = divided(labels, 32, a as u32 as u64, b as u32 as u64);
            let whole = remainder.value << 32 | quotient.value;
            nodes::concat(remainder.node(32), quotient.node(32), 64, whole)
        };
        let label = if labels.any() { guarded(joined).unwrap_or(0) } else { 0 };
        let result = real::div(a, b);
        answer(label);
        result
    }
}

/// `ldiv`
pub(super) unsafe fn long_division(labels: &Args, a: c_long, b: c_long) -> LongDivision {
    unsafe {
        let both = || divided(labels, 64, a as u64, b as u64);
        let both = if labels.any() { guarded(both) } else { None };
        let (quotient, remainder) = both.unwrap_or((FALSE, FALSE));
        let result = real::ldiv(a, b);
        calls::__tgi_send_result(0, quotient.label);
        calls::__tgi_send_result(1, remainder.label);
        result
    }
}
