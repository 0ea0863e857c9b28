//! Integers in text of wide characters, as in [`numbers`](super::numbers). Which characters are ASCII is a branch; others belong
//! to no number.

use super::logic::*;
use super::numbers::{Characters, Format, PLAIN, read_all};
use super::{MAX_STRING, answer, concretise, element, give_up};
use crate::build::Value;
use crate::calls::Args;
use crate::{shadow, state};
use core::ffi::{c_int, c_long};
use trace::{ConcretiseReason, Op};

struct WideInMemory(*const i32);

impl Characters for WideInMemory {
    const ENDS_WITH_ZERO: bool = true;

    unsafe fn at(&self, index: usize) -> Option<Value> {
        /// Neither digit nor sign nor space.
        const OTHER: Value = Value::concrete(0xff);
        unsafe {
            let c = element(self.0.add(index).cast(), 4);
            Some(if ask(apply_to(Op::Ult, 32, c, 0x80)) { truncated(8, c) } else { OTHER })
        }
    }
}

/// Answers with the number at `text`, of which the library says that it is `result` and ends at `end`.
unsafe fn parsed(text: *const i32, format: &Format, result: u64, end: *const i32) {
    unsafe {
        answer(0);
        let count = end.offset_from(text) as usize;
        if !state::active() || !shadow::any_label(text as usize, (count + 2).min(MAX_STRING) * 4) {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let read = read_all(&WideInMemory(text), format);
        if read.number.value == result && read.end.unwrap_or(0) == count {
            answer(read.number.label);
        } else {
            give_up();
        }
    }
}

macro_rules! wcstol {
    ($($name:ident = $real:ident: $result:ty, $signed:literal, $binary:literal;)*) => {
        unsafe extern "C" {
            $(fn $real(text: *const i32, end: *mut *mut i32, base: c_int) -> $result;)*
        }
        $(#[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(text: *const i32, end: *mut *mut i32, base: c_int) -> $result {
            unsafe {
                concretise(Args::take().label(2), ConcretiseReason::Argument);
                if base != 0 && !(2..=36).contains(&base) {
                    answer(0);
                    return $real(text, end, base);
                }
                let mut place = core::ptr::null_mut();
                let result = $real(text, &raw mut place, base);
                // The branches fix where the number ends, so the pointer is concrete.
                if !end.is_null() {
                    *end = place;
                    shadow::clear(end as usize, 8);
                }
                let format = Format { base: base as u32, signed: $signed, binary_prefix: $binary, ..PLAIN };
                parsed(text, &format, result as u64, place);
                result
            }
        })*
    };
}

wcstol!(
    __tarragon_model_wcstol = wcstol: c_long, true, false;
    __tarragon_model_wcstoll = wcstoll: c_long, true, false;
    __tarragon_model_wcstoimax = wcstoimax: c_long, true, false;
    __tarragon_model_wcstoul = wcstoul: u64, false, false;
    __tarragon_model_wcstoull = wcstoull: u64, false, false;
    __tarragon_model_wcstoumax = wcstoumax: u64, false, false;
    __tarragon_model___isoc23_wcstol = __isoc23_wcstol: c_long, true, true;
    __tarragon_model___isoc23_wcstoll = __isoc23_wcstoll: c_long, true, true;
    __tarragon_model___isoc23_wcstoul = __isoc23_wcstoul: u64, false, true;
    __tarragon_model___isoc23_wcstoull = __isoc23_wcstoull: u64, false, true;
);
