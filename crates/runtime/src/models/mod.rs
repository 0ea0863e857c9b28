//! Models: functions that stand in for library functions which were not compiled with Tarragon.
//!
//! A model has the library function's own signature. It takes the labels of its arguments, calls the real
//! function, and sends the label of the result; the instrumenter redirects every reference to the library
//! function to it. A model must leave the program's behaviour unchanged.
//!
//! Where callers can tell only few outcomes apart, the result is one expression. Where data decides how the library
//! goes on (which characters are digits), that is a branch at the site of the call. A result that the model's
//! expression does not explain stays concrete and is counted.
//!
//! Variadic functions are named `__tarragon_variadic_*` and take a `va_list`; the instrumenter makes the function
//! that collects it.

pub mod arithmetic;
pub mod bounded;
pub mod characters;
pub mod checked;
pub mod compare;
pub mod copy;
pub mod decimals;
pub mod heap;
pub mod input;
pub mod lexers;
mod logic;
pub mod messages;
pub mod numbers;
pub mod print;
pub mod process;
pub mod scan;
pub mod search;
pub mod sort;
pub mod spans;
pub mod stdio;
pub mod tokens;
pub mod wide;
pub mod wide_classes;
pub mod wide_input;
pub mod wide_numbers;
pub mod wide_search;
pub mod wide_tokens;

use crate::build::Value;
use crate::{calls, events, os, shadow, state};
use trace::{ConcretiseReason, GiveUp, Label};

/// Sends the label of the model's result.
#[inline(always)]
pub(crate) unsafe fn answer(label: Label) {
    unsafe { calls::__tgi_send_result(0, label) }
}

/// Sends the label of an expression that must have the value `result`; otherwise the result stays concrete.
pub(crate) unsafe fn answer_checked(expression: Value, result: u64) {
    unsafe {
        if expression.value == result {
            answer(expression.label);
        } else {
            give_up();
        }
    }
}

/// The library did what the model does not describe.
pub(crate) unsafe fn give_up() {
    unsafe { events::give_up(GiveUp::Model, call_site(), 0) }
}

/// As [`give_up`], without the guard.
#[cold]
pub(crate) unsafe fn give_up_outside() {
    unsafe {
        if let Some(_entered) = state::enter() {
            give_up();
        }
    }
}

/// Fixes an argument to its value.
pub(crate) unsafe fn concretise(label: Label, reason: ConcretiseReason) {
    unsafe {
        if label != 0
            && let Some(_entered) = state::enter()
        {
            events::concretise(label, reason, call_site());
        }
    }
}

/// Site of the call that the model answers.
pub(crate) unsafe fn call_site() -> u32 {
    unsafe { (*os::tls()).site }
}

/// The byte at `at` with its label, with the runtime's guard held.
pub(crate) unsafe fn byte(at: *const u8) -> Value {
    unsafe { Value::new(shadow::label_of_byte(at as usize), *at as u64) }
}

/// The value of `size` bytes at `at` with its label, with the guard held.
pub(crate) unsafe fn element(at: *const u8, size: usize) -> Value {
    unsafe {
        if size == 1 {
            return byte(at);
        }
        let value = shadow::read_value(at as usize, size);
        Value::new(shadow::loaded(at as usize, size, value), value)
    }
}

/// Gives the `size` bytes at `at` the label of a value of that size, with the guard held.
pub(crate) unsafe fn set_label(at: *const u8, label: Label, size: usize) {
    unsafe {
        for i in 0..size {
            shadow::set_entry(at as usize + i, if label == 0 { 0 } else { shadow::part(label, i) });
        }
    }
}

/// How much of the memory from `start` to `limit` is surely mapped, of which the library read `seen` bytes: bytes that have
/// labels, and those that share a page with others.
pub(crate) unsafe fn mapped_until(start: *const u8, seen: usize, limit: usize) -> usize {
    unsafe {
        let mut end = seen;
        while end < limit && end < MAX_STRING {
            let at = start as usize + end;
            if at.is_multiple_of(PAGE) && shadow::entry(at) == 0 {
                break;
            }
            end += 1;
        }
        end
    }
}

const PAGE: usize = 4096;

/// How far a string reaches on some input: up to its first 0 that is concrete.
pub(crate) struct Extent {
    /// Elements before the end.
    pub count: usize,
    /// The end is a concrete 0. Otherwise it is where the string ends on this run.
    pub closed: bool,
}

/// The extent of a string whose elements have `size` bytes and of which at most `limit` count. On this run it has `length`
/// elements. Memory behind that is looked at only where it is surely mapped: it has labels, or shares a page with what
/// was read.
pub(crate) unsafe fn extent(start: *const u8, size: usize, length: usize, limit: usize) -> Extent {
    unsafe {
        let symbolic = |i: usize| shadow::any_label(start as usize + i * size, size);
        let is_zero = |i: usize| shadow::read_value(start as usize + i * size, size) == 0;
        let mut count = length;
        while count < limit && count <= MAX_STRING {
            let first_on_page = (start as usize + count * size) % PAGE < size;
            if !symbolic(count) {
                if count > length && first_on_page {
                    break;
                }
                if is_zero(count) {
                    return Extent { count, closed: true };
                }
            }
            count += 1;
        }
        let closed = count == limit;
        Extent { count: if closed { limit } else { length }, closed }
    }
}

/// More bytes than this are not put into one expression.
pub(crate) const MAX_STRING: usize = 4096;
