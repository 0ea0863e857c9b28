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
pub mod characters;
pub mod checked;
pub mod compare;
pub mod copy;
pub mod decimals;
pub mod heap;
pub mod input;
mod logic;
pub mod numbers;
pub mod print;
pub mod process;
pub mod scan;
pub mod search;
pub mod sort;
pub mod stdio;
pub mod tokens;
pub mod wide;
pub mod wide_input;

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

/// More bytes than this are not put into one expression.
pub(crate) const MAX_STRING: usize = 4096;
