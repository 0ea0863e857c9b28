//! Models: functions that stand in for library functions which were not compiled with Tarragon, and
//! what happens in code that has neither bitcode nor a model.
//!
//! Each model is a row of the [table](mod@table): its name and aliases, what its arguments are for,
//! and its effect. Effects are *kernels*, the functions of the modules here: the library acts, and
//! a kernel says how the result depends on the input. A kernel knows bytes and wide characters
//! alike (module `element`). A model must leave the program's behaviour unchanged.
//!
//! Where callers can tell only few outcomes apart, the result is one expression. Where data decides
//! how the library goes on (which characters are digits), that is a branch at the site of the call.
//! A result that the kernel's expression does not explain stays concrete and is counted.
#![cfg_attr(not(any(test, feature = "testing")), no_std)]
// The table of models declares functions of memory with the type of their elements.
#![allow(clashing_extern_declarations)]
#![allow(clippy::declare_interior_mutable_const, reason = "each is copied once, into one static")]

pub mod arithmetic;
mod characters;
mod compare;
mod conversions;
mod copy;
mod decimals;
mod element;
mod ends;
pub mod heap;
pub mod input;
pub mod lexers;
mod logic;
pub mod messages;
mod numbers;
pub mod outside;
pub mod positions;
mod print;
mod process;
mod scan;
mod search;
pub mod sort;
pub mod sources;
mod spans;
pub mod state;
pub mod stdio;
pub mod table;
mod tokens;
mod unfollowed;
mod wide_input;
pub mod words;

#[cfg(test)]
mod tests;

use runtime_core::build::Value;
use runtime_core::calls::{self, call_site};
use runtime_core::state::{self as core_state, Run};
use runtime_core::{events, shadow};
use trace::{GiveUp, Label};

/// Runs a kernel with the runtime's guard; `None` where a signal handler interrupted the runtime.
#[inline(always)]
pub(crate) fn guarded<T>(kernel: impl FnOnce(&Run) -> T) -> Option<T> {
    let run = Run::current();
    core_state::enter(run).map(|_entered| kernel(run))
}

/// Sends the label of the model's result.
#[inline(always)]
pub(crate) fn answer(label: Label) {
    calls::__tgi_send_result(0, label);
}

/// Sends the label of an expression that must have the value `result`; otherwise the result stays
/// concrete.
pub(crate) fn answer_checked(run: &Run, expression: Value, result: u64) {
    if expression.value == result {
        answer(expression.label);
    } else {
        give_up(run);
    }
}

/// The library did what the model does not describe.
pub(crate) fn give_up(run: &Run) {
    events::give_up(run, GiveUp::Model, call_site(), 0);
}

/// As [`give_up`], without the guard.
#[cold]
pub(crate) fn give_up_outside() {
    guarded(give_up);
}

/// The byte at `at` with its label, with the runtime's guard held.
pub(crate) fn byte(run: &Run, at: *const u8) -> Value {
    let address = at as usize;
    Value::new(shadow::label_of_byte(run, address), runtime_core::memory::byte(address) as u64)
}

/// The value of `size` bytes at `at` with its label, with the guard held.
pub(crate) fn element(run: &Run, at: *const u8, size: usize) -> Value {
    let value = shadow::read_value(at as usize, size);
    Value::new(shadow::loaded(run, at as usize, size, value), value)
}

/// Gives the `size` bytes at `at` the label of a value of that size, with the guard held.
pub(crate) fn set_label(run: &Run, at: *const u8, label: Label, size: usize) {
    for i in 0..size {
        let entry = if label == 0 { 0 } else { shadow::part(label, i) };
        shadow::set_entry(run, at as usize + i, entry);
    }
}
