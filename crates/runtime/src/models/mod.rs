//! Models: functions that stand in for library functions which were not compiled with Tarragon.
//!
//! A model has the library function's own signature. It takes the labels of its arguments, calls the real
//! function, and sends the label of the result; the instrumenter redirects every reference to the library
//! function to it. A model must leave the program's behaviour unchanged.

pub mod characters;
pub mod compare;
pub mod heap;
pub mod input;
pub mod numbers;
pub mod process;
pub mod stdio;
pub mod strings;

use crate::build::Value;
use crate::{calls, os, shadow};
use trace::Label;

/// Sends the label of the model's result.
#[inline(always)]
pub(crate) unsafe fn answer(label: Label) {
    unsafe { calls::__tgi_send_result(0, label) }
}

/// Site of the call that the model answers.
pub(crate) unsafe fn call_site() -> u32 {
    unsafe { (*os::tls()).site }
}

/// The byte at `at` with its label, with the runtime's guard held.
pub(crate) unsafe fn byte(at: *const u8) -> Value {
    unsafe { Value::new(shadow::label_of_byte(at as usize), *at as u64) }
}

/// More bytes than this are not put into one expression.
pub(crate) const MAX_STRING: usize = 4096;
