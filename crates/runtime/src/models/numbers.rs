//! Decimal numbers in text. Which characters are digits is a branch for each character, as it would be in the
//! library's own code; the number is one expression over the digits.

use super::{answer, byte, call_site};
use crate::build::{self, Value};
use crate::calls;
use crate::{events, shadow, state};
use core::ffi::{c_char, c_int, c_long};
use trace::Op;

unsafe extern "C" {
    fn atoi(text: *const c_char) -> c_int;
    fn atol(text: *const c_char) -> c_long;
}

/// Digits that surely fit 64 bits.
const MAX_DIGITS: usize = 18;

/// A branch on "`from <= c <= to`".
unsafe fn ask_range(c: Value, from: u8, to: u8) -> bool {
    unsafe {
        let shifted = c.value.wrapping_sub(from as u64) & 0xFF;
        let offset = Value::new(build::binary(Op::Sub, 8, c, Value::concrete(from as u64)), shifted);
        let within = shifted <= (to - from) as u64;
        let label = build::binary(Op::Ule, 8, offset, Value::concrete((to - from) as u64));
        events::branch(label, within, call_site());
        within
    }
}

unsafe fn ask_equal(c: Value, wanted: u8) -> bool {
    unsafe {
        let equal = c.value == wanted as u64;
        events::branch(build::binary(Op::Eq, 8, c, Value::concrete(wanted as u64)), equal, call_site());
        equal
    }
}

/// The value of the digits at the start of `text`, 64 bits; `None` if there are more than fit.
unsafe fn digits(mut text: *const u8) -> Option<Value> {
    unsafe {
        let mut number = Value::concrete(0);
        let mut count = 0;
        loop {
            let c = byte(text);
            if !ask_range(c, b'0', b'9') {
                return Some(number);
            }
            count += 1;
            if count > MAX_DIGITS {
                return None;
            }
            number = append_digit(number, c);
            text = text.add(1);
        }
    }
}

/// `number * 10 + (c - '0')`
unsafe fn append_digit(number: Value, c: Value) -> Value {
    unsafe {
        let tens = number.value.wrapping_mul(10);
        let scaled = Value::new(build::binary(Op::Mul, 64, number, Value::concrete(10)), tens);
        let wide = Value::new(build::zext(8, 64, c), c.value);
        let digit_value = c.value.wrapping_sub(b'0' as u64);
        let digit = Value::new(build::binary(Op::Sub, 64, wide, Value::concrete(b'0' as u64)), digit_value);
        Value::new(build::binary(Op::Add, 64, scaled, digit), tens.wrapping_add(digit_value))
    }
}

/// `[space]* [+-]? digit*`
unsafe fn number(mut text: *const u8) -> Option<Value> {
    unsafe {
        while ask_equal(byte(text), b' ') || ask_range(byte(text), b'\t', b'\r') {
            text = text.add(1);
        }
        let negative = ask_equal(byte(text), b'-');
        if negative || ask_equal(byte(text), b'+') {
            text = text.add(1);
        }
        let size = digits(text)?;
        if !negative {
            return Some(size);
        }
        let label = build::binary(Op::Sub, 64, Value::concrete(0), size);
        Some(Value::new(label, size.value.wrapping_neg()))
    }
}

/// Label of the number at `text`, whose value of `bits` bits the library says is `result`.
unsafe fn parsed(text: *const c_char, bits: u32, result: u64) {
    unsafe {
        answer(0);
        if !state::active() || !shadow::any_label(text as usize, 32.min(strlen(text) + 1)) {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        if let Some(found) = number(text.cast()) {
            let label = build::trunc(bits, found);
            if found.value & crate::values::mask(bits) == result {
                answer(label);
            }
        }
    }
}

unsafe extern "C" {
    fn strlen(text: *const c_char) -> usize;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_atoi(text: *const c_char) -> c_int {
    unsafe {
        calls::__tgi_args_taken();
        let result = atoi(text);
        parsed(text, 32, result as u32 as u64);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_atol(text: *const c_char) -> c_long {
    unsafe {
        calls::__tgi_args_taken();
        let result = atol(text);
        parsed(text, 64, result as u64);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_atoll(text: *const c_char) -> c_long {
    unsafe { __tarragon_model_atol(text) }
}

macro_rules! strtol {
    ($($name:ident = $real:ident: $result:ty),*) => {
        unsafe extern "C" {
            $(fn $real(text: *const c_char, end: *mut *mut c_char, base: c_int) -> $result;)*
        }
        $(#[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(text: *const c_char, end: *mut *mut c_char, base: c_int) -> $result {
            unsafe {
                calls::__tgi_args_taken();
                let result = $real(text, end, base);
                if !end.is_null() {
                    shadow::clear(end as usize, 8);
                }
                if base == 10 {
                    parsed(text, 64, result as u64);
                } else {
                    answer(0);
                }
                result
            }
        })*
    };
}

strtol!(
    __tarragon_model_strtol = strtol: c_long,
    __tarragon_model_strtoll = strtoll: c_long,
    __tarragon_model_strtoul = strtoul: u64,
    __tarragon_model_strtoull = strtoull: u64
);
