//! Comparisons of strings and memory: one expression for the result, however long the operands are.

use super::{MAX_STRING, answer, byte, call_site};
use crate::build::{self, Value};
use crate::calls::{self, Args};
use crate::{events, shadow, state};
use core::ffi::{c_char, c_int, c_void};
use trace::{ConcretiseReason, Label, Op};

unsafe extern "C" {
    fn strcmp(a: *const c_char, b: *const c_char) -> c_int;
    fn strncmp(a: *const c_char, b: *const c_char, limit: usize) -> c_int;
    fn memcmp(a: *const c_void, b: *const c_void, size: usize) -> c_int;
    fn strlen(string: *const c_char) -> usize;
    fn strnlen(string: *const c_char, limit: usize) -> usize;
}

/// `sign(a[0..size] - b[0..size])` as an expression that evaluates to `result` on this run.
///
/// ```text
/// r(i) = if a[i] == b[i] { r(i + 1) } else if a[i] < b[i] { below } else { above }
/// ```
/// `below` and `above` are `result` where its sign fits, so that the expression has the value which the library
/// returned; the standard fixes the sign only.
unsafe fn difference(a: *const u8, b: *const u8, size: usize, result: c_int, terminated: bool) -> Label {
    unsafe {
        let below = if result < 0 { result } else { -1 } as u32 as u64;
        let above = if result > 0 { result } else { 1 } as u64;
        let mut rest = Value::concrete(0);
        for i in (0..size).rev() {
            let (x, y) = (byte(a.add(i)), byte(b.add(i)));
            if terminated && x.label != 0 && y.label != 0 {
                rest = end_of_string(x, rest);
            }
            rest = step(x, y, rest, below, above);
        }
        rest.label
    }
}

/// Two symbolic bytes that are both 0 end the comparison.
unsafe fn end_of_string(x: Value, rest: Value) -> Value {
    unsafe {
        let end = Value::new(build::binary(Op::Eq, 8, x, Value::concrete(0)), (x.value == 0) as u64);
        let value = if x.value == 0 { 0 } else { rest.value };
        Value::new(build::ite(32, end, Value::concrete(0), rest), value)
    }
}

unsafe fn step(x: Value, y: Value, rest: Value, below: u64, above: u64) -> Value {
    unsafe {
        let equal = Value::new(build::binary(Op::Eq, 8, x, y), (x.value == y.value) as u64);
        let less = Value::new(build::binary(Op::Ult, 8, x, y), (x.value < y.value) as u64);
        let unequal_value = if x.value < y.value { below } else { above };
        let unequal = build::ite(32, less, Value::concrete(below), Value::concrete(above));
        let value = if x.value == y.value { rest.value } else { unequal_value };
        Value::new(build::ite(32, equal, rest, Value::new(unequal, unequal_value)), value)
    }
}

unsafe fn any_symbolic(a: *const u8, b: *const u8, size: usize) -> bool {
    unsafe { shadow::any_label(a as usize, size) || shadow::any_label(b as usize, size) }
}

unsafe fn compared(a: *const u8, b: *const u8, size: usize, result: c_int, terminated: bool) {
    unsafe {
        answer(0);
        if size > MAX_STRING || !any_symbolic(a, b, size) {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        answer(difference(a, b, size, result, terminated));
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strcmp(a: *const c_char, b: *const c_char) -> c_int {
    unsafe {
        calls::__tgi_args_taken();
        let result = strcmp(a, b);
        if state::active() {
            compared(a.cast(), b.cast(), strlen(a).min(strlen(b)) + 1, result, true);
        } else {
            answer(0);
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strcoll(a: *const c_char, b: *const c_char) -> c_int {
    unsafe { __tarragon_model_strcmp(a, b) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strncmp(a: *const c_char, b: *const c_char, limit: usize) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = strncmp(a, b, limit);
        if state::active() {
            let size = (strnlen(a, limit).min(strnlen(b, limit)) + 1).min(limit);
            compared(a.cast(), b.cast(), size, result, true);
        } else {
            answer(0);
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_memcmp(a: *const c_void, b: *const c_void, size: usize) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = memcmp(a, b, size);
        compared(a.cast(), b.cast(), size, result, false);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_bcmp(a: *const c_void, b: *const c_void, size: usize) -> c_int {
    unsafe { __tarragon_model_memcmp(a, b, size) }
}

/// Value of `strlen`: the first index whose byte is 0.
unsafe fn length_label(string: *const u8, size: usize) -> Label {
    unsafe {
        let mut rest = Value::concrete(size as u64);
        for i in (0..size).rev() {
            let end = Value::new(build::binary(Op::Eq, 8, byte(string.add(i)), Value::concrete(0)), 0);
            rest = Value::new(build::ite(64, end, Value::concrete(i as u64), rest), size as u64);
        }
        rest.label
    }
}

unsafe fn measured(string: *const u8, size: usize) {
    unsafe {
        answer(0);
        if size > MAX_STRING || !shadow::any_label(string as usize, size + 1) {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let terminator = byte(string.add(size));
        let ends = build::binary(Op::Eq, 8, terminator, Value::concrete(0));
        events::branch(ends, true, call_site());
        answer(length_label(string, size));
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strlen(string: *const c_char) -> usize {
    unsafe {
        calls::__tgi_args_taken();
        let size = strlen(string);
        measured(string.cast(), size);
        size
    }
}
