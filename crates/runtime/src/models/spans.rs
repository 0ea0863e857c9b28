//! Searches for members of sets: how far a string goes, and where it stops.

use super::byte;
use super::logic::*;
use super::search::{Text, found, string};
use crate::build::Value;
use crate::texts::{self, Bytes};
use crate::{calls, shadow, state};
use core::ffi::c_char;
use trace::{Op, text};

unsafe extern "C" {
    fn strlen(string: *const c_char) -> usize;
    fn strpbrk(string: *const c_char, set: *const c_char) -> *mut c_char;
    fn strspn(string: *const c_char, set: *const c_char) -> usize;
    fn strcspn(string: *const c_char, set: *const c_char) -> usize;
}

/// The bytes of a string, with its final 0 if `end` is 1.
unsafe fn members(set: *const c_char, end: usize) -> Bytes {
    unsafe { Bytes { start: set.cast(), size: strlen(set) + end } }
}

/// Membership in the set of a string's bytes.
unsafe fn member(set: *const c_char) -> impl Fn(Value) -> Value {
    unsafe {
        let size = if state::active() { strlen(set) } else { 0 };
        let symbolic = shadow::any_label(set as usize, size);
        let bytes = ByteSet::of_string(set.cast());
        move |c| {
            if !symbolic {
                return bytes.holds(c);
            }
            (0..size)
                .fold(FALSE, |found, i| either(found, apply(Op::Eq, 8, c, byte(set.cast::<u8>().add(i)))))
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strpbrk(start: *const c_char, set: *const c_char) -> *mut c_char {
    unsafe {
        calls::__tgi_args_taken();
        let result = strpbrk(start, set);
        let text = string(start);
        found(text, false, result as u64, |text| {
            let one = text.place_of(members(set, 0), text::SET | text::TERMINATED, Value::concrete(0));
            one.unwrap_or_else(|| {
                let member = member(set);
                text.first(Value::concrete(0), |i| member(byte(text.start.add(i))))
            })
        });
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strspn(start: *const c_char, set: *const c_char) -> usize {
    unsafe {
        calls::__tgi_args_taken();
        let result = strspn(start, set);
        let text = string(start);
        found(text, false, result as u64, |text| {
            let one = text.length_until(members(set, 0), text::SET | text::NEGATED);
            one.unwrap_or_else(|| {
                let member = member(set);
                text.length_before(|c| negated(member(c)))
            })
        });
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strcspn(start: *const c_char, set: *const c_char) -> usize {
    unsafe {
        calls::__tgi_args_taken();
        let result = strcspn(start, set);
        let text = string(start);
        found(text, false, result as u64, |text| {
            let one = text.length_until(members(set, 1), text::SET);
            one.unwrap_or_else(|| {
                let member = member(set);
                text.length_before(|c| either(member(c), is(c, 0)))
            })
        });
        result
    }
}

impl Text {
    /// Number of bytes before the first that stops.
    unsafe fn length_before(&self, stops: impl Fn(Value) -> Value) -> Value {
        unsafe {
            if self.passed.any() {
                let stop = (0..self.size).find(|i| ask(stops(byte(self.start.add(*i)))));
                return self.passed.place(stop.unwrap_or(self.size));
            }
            let mut rest = Value::concrete(self.size as u64);
            for i in (0..self.size).rev() {
                rest = choose(64, stops(byte(self.start.add(i))), Value::concrete(i as u64), rest);
            }
            rest
        }
    }

    /// The same in one node; `None` if formulas will do.
    unsafe fn length_until(&self, stops: Bytes, flags: u16) -> Option<Value> {
        unsafe { if self.passed.any() { None } else { texts::find(self.bytes(), stops, flags) } }
    }
}
