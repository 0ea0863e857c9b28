//! Models: functions that stand in for library functions which were not compiled with Tarragon.
//!
//! Each is a row of the [table](mod@table): its name and aliases, what its arguments are for, and
//! its effect. Effects are *kernels*, the functions of the modules here: the library acts, and a
//! kernel says how the result depends on the input. A kernel knows bytes and wide characters alike
//! ([`element`]). A model must leave the program's behaviour unchanged.
//!
//! Where callers can tell only few outcomes apart, the result is one expression. Where data decides
//! how the library goes on (which characters are digits), that is a branch at the site of the call.
//! A result that the kernel's expression does not explain stays concrete and is counted.

pub mod arithmetic;
mod characters;
mod compare;
mod conversions;
mod copy;
mod decimals;
mod element;
pub mod heap;
pub mod input;
pub mod lexers;
mod logic;
pub mod messages;
mod numbers;
mod print;
mod process;
mod scan;
mod search;
pub mod sort;
mod spans;
mod state;
pub mod stdio;
pub mod table;
mod tokens;
mod wide_input;

use crate::build::Value;
use crate::{calls, events, os, shadow};
use trace::{GiveUp, Label};

/// Runs a kernel with the runtime's guard; `None` where a signal handler interrupted the runtime.
#[inline(always)]
pub(crate) unsafe fn guarded<T>(kernel: impl FnOnce() -> T) -> Option<T> {
    unsafe { crate::state::enter().map(|_entered| kernel()) }
}

/// Sends the label of the model's result.
#[inline(always)]
pub(crate) unsafe fn answer(label: Label) {
    unsafe { calls::__tgi_send_result(0, label) }
}

/// Sends the label of an expression that must have the value `result`; otherwise the result stays
/// concrete.
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
        guarded(|| give_up());
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
        let value = shadow::read_value(at as usize, size);
        Value::new(shadow::loaded(at as usize, size, value), value)
    }
}

/// Gives the `size` bytes at `at` the label of a value of that size, with the guard held.
pub(crate) unsafe fn set_label(at: *const u8, label: Label, size: usize) {
    unsafe {
        for i in 0..size {
            let entry = if label == 0 { 0 } else { shadow::part(label, i) };
            shadow::set_entry(at as usize + i, entry);
        }
    }
}
