//! Searching and copying of strings and memory.

use super::{MAX_STRING, answer, byte, call_site};
use crate::build::{self, Value};
use crate::calls::{self, Args};
use crate::{events, memory, shadow, state};
use core::ffi::{c_char, c_int, c_void};
use trace::{ConcretiseReason, Op};

unsafe extern "C" {
    fn strlen(string: *const c_char) -> usize;
    fn strnlen(string: *const c_char, limit: usize) -> usize;
    fn strchr(string: *const c_char, c: c_int) -> *mut c_char;
    fn memchr(from: *const c_void, c: c_int, size: usize) -> *mut c_void;
}

/// The pointer to the first of `size` bytes that equals `wanted`, otherwise `none`.
unsafe fn first_match(from: *const u8, size: usize, wanted: Value, none: u64) -> Value {
    unsafe {
        let mut rest = Value::concrete(none);
        for i in (0..size).rev() {
            let here = byte(from.add(i));
            let hit_value = here.value == wanted.value;
            let hit = Value::new(build::binary(Op::Eq, 8, here, wanted), hit_value as u64);
            let place = Value::concrete(from as u64 + i as u64);
            let value = if hit_value { place.value } else { rest.value };
            rest = Value::new(build::ite(64, hit, place, rest), value);
        }
        rest
    }
}

unsafe fn wanted_byte(c: c_int, label: u32) -> Value {
    unsafe { Value::new(build::trunc(8, Value::new(label, c as u32 as u64)), c as u8 as u64) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_memchr(from: *const c_void, c: c_int, size: usize) -> *mut c_void {
    unsafe {
        let args = Args::take();
        let result = memchr(from, c, size);
        answer(0);
        let scanned = if result.is_null() { size } else { (result as usize - from as usize + 1).min(size) };
        if scanned > MAX_STRING || (args.label(1) == 0 && !shadow::any_label(from as usize, scanned)) {
            return result;
        }
        let Some(_entered) = state::enter() else { return result };
        events::concretise(args.label(2), ConcretiseReason::CopyLength, call_site());
        answer(first_match(from.cast(), scanned, wanted_byte(c, args.label(1)), 0).label);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strchr(string: *const c_char, c: c_int) -> *mut c_char {
    unsafe {
        let args = Args::take();
        let result = strchr(string, c);
        answer(0);
        if !state::active() {
            return result;
        }
        let size = strlen(string);
        if size > MAX_STRING || (args.label(1) == 0 && !shadow::any_label(string as usize, size)) {
            return result;
        }
        let Some(_entered) = state::enter() else { return result };
        let wanted = wanted_byte(c, args.label(1));
        let end = string as u64 + size as u64;
        let is_zero =
            Value::new(build::binary(Op::Eq, 8, wanted, Value::concrete(0)), (wanted.value == 0) as u64);
        let none_value = if wanted.value == 0 { end } else { 0 };
        let none = Value::new(build::ite(64, is_zero, Value::concrete(end), Value::concrete(0)), none_value);
        answer(first_match_else(string.cast(), size, wanted, none).label);
        result
    }
}

/// As [`first_match`], with a symbolic pointer for "none".
unsafe fn first_match_else(from: *const u8, size: usize, wanted: Value, none: Value) -> Value {
    unsafe {
        if none.label == 0 {
            return first_match(from, size, wanted, none.value);
        }
        let found = first_match(from, size, wanted, 0);
        let missing = found.value == 0;
        let is_missing = Value::new(build::binary(Op::Eq, 64, found, Value::concrete(0)), missing as u64);
        let value = if missing { none.value } else { found.value };
        if found.label == 0 {
            return if missing { none } else { found };
        }
        Value::new(build::ite(64, is_missing, none, found), value)
    }
}

/// Copies a string with its labels, its end included.
unsafe fn copy_string(to: *mut c_char, from: *const c_char, size: usize) {
    unsafe {
        memory::copy_with_labels(to.cast(), from.cast(), size);
        shadow::clear(to as usize + size, 1);
        *to.add(size) = 0;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strcpy(to: *mut c_char, from: *const c_char) -> *mut c_char {
    unsafe {
        calls::__tgi_args_taken();
        copy_string(to, from, strlen(from));
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_stpcpy(to: *mut c_char, from: *const c_char) -> *mut c_char {
    unsafe {
        calls::__tgi_args_taken();
        let size = strlen(from);
        copy_string(to, from, size);
        answer(0);
        to.add(size)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strncpy(
    to: *mut c_char,
    from: *const c_char,
    size: usize,
) -> *mut c_char {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let used = strnlen(from, size);
        memory::copy_with_labels(to.cast(), from.cast(), used);
        memory::fill_with_label(to.add(used).cast(), 0, size - used, 0);
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strcat(to: *mut c_char, from: *const c_char) -> *mut c_char {
    unsafe {
        calls::__tgi_args_taken();
        copy_string(to.add(strlen(to)), from, strlen(from));
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strncat(
    to: *mut c_char,
    from: *const c_char,
    limit: usize,
) -> *mut c_char {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        copy_string(to.add(strlen(to)), from, strnlen(from, limit));
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_memcpy(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
) -> *mut c_void {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        memory::copy_with_labels(to.cast(), from.cast(), size);
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_memmove(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
) -> *mut c_void {
    unsafe { __tarragon_model_memcpy(to, from, size) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_mempcpy(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
) -> *mut c_void {
    unsafe { __tarragon_model_memcpy(to, from, size).byte_add(size) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_memset(to: *mut c_void, byte: c_int, size: usize) -> *mut c_void {
    unsafe {
        let args = Args::take();
        let label = if args.any()
            && let Some(_entered) = state::enter()
        {
            events::concretise(args.label(2), ConcretiseReason::CopyLength, call_site());
            wanted_byte(byte, args.label(1)).label
        } else {
            0
        };
        memory::fill_with_label(to.cast(), byte, size, label);
        answer(0);
        to
    }
}
