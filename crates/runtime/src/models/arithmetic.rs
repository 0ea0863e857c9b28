//! Small functions of numbers: absolute values, quotients with remainders, and byte order.

use super::answer;
use super::logic::*;
use crate::build::{self, Value};
use crate::calls::{self, Args};
use crate::{nodes, state};
use core::ffi::{c_int, c_long};
use trace::{CheckKind, Op};

/// `if x < 0 { 0 - x } else { x }`
unsafe fn absolute(bits: u32, x: u64) {
    unsafe {
        let label = Args::take().label(0);
        answer(0);
        if label == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let x = Value::new(label, x);
        let negative = apply_to(Op::Slt, bits, x, 0);
        answer(choose(bits, negative, apply(Op::Sub, bits, Value::concrete(0), x), x).label);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_abs(x: c_int) -> c_int {
    unsafe {
        absolute(32, x as u32 as u64);
        x.wrapping_abs()
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_labs(x: c_long) -> c_long {
    unsafe {
        absolute(64, x as u64);
        x.wrapping_abs()
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_llabs(x: c_long) -> c_long {
    unsafe { __tarragon_model_labs(x) }
}

unsafe fn swapped(bits: u32, x: u64) {
    unsafe {
        let label = Args::take().label(0);
        answer(0);
        if label == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        answer(build::unary(Op::Bswap, bits, Value::new(label, x)));
    }
}

macro_rules! byte_orders {
    ($($name:ident: $number:ty),*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(x: $number) -> $number {
            unsafe {
                swapped(<$number>::BITS, x as u64);
                x.swap_bytes()
            }
        }
    )*};
}

byte_orders!(
    __tarragon_model_ntohs: u16,
    __tarragon_model_htons: u16,
    __tarragon_model_ntohl: u32,
    __tarragon_model_htonl: u32
);

/// `div_t`: one register holds both fields.
#[repr(C)]
pub struct Division {
    quotient: c_int,
    remainder: c_int,
}

#[repr(C)]
pub struct LongDivision {
    quotient: c_long,
    remainder: c_long,
}

unsafe extern "C" {
    fn div(a: c_int, b: c_int) -> Division;
    fn ldiv(a: c_long, b: c_long) -> LongDivision;
}

/// Quotient and remainder; `None` if nothing is symbolic.
unsafe fn divided(bits: u32, a: u64, b: u64) -> Option<(Value, Value)> {
    unsafe {
        let args = Args::take();
        if !args.any() {
            return None;
        }
        let _entered = state::enter()?;
        let (a, b) = (Value::new(args.label(0), a), Value::new(args.label(1), b));
        let by_zero = apply_to(Op::Eq, bits, b, 0);
        crate::events::check(by_zero.label, CheckKind::DivisionByZero, super::call_site());
        Some((apply(Op::SDiv, bits, a, b), apply(Op::SRem, bits, a, b)))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_div(a: c_int, b: c_int) -> Division {
    unsafe {
        let labels = divided(32, a as u32 as u64, b as u32 as u64);
        let result = div(a, b);
        answer(0);
        if let Some((quotient, remainder)) = labels
            && let Some(_entered) = state::enter()
        {
            let whole = remainder.value << 32 | quotient.value;
            answer(nodes::concat(remainder.node(32), quotient.node(32), 64, whole));
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_ldiv(a: c_long, b: c_long) -> LongDivision {
    unsafe {
        let labels = divided(64, a as u64, b as u64);
        let result = ldiv(a, b);
        let (quotient, remainder) = labels.unwrap_or((FALSE, FALSE));
        calls::__tgi_send_result(0, quotient.label);
        calls::__tgi_send_result(1, remainder.label);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_lldiv(a: c_long, b: c_long) -> LongDivision {
    unsafe { __tarragon_model_ldiv(a, b) }
}
