//! Copies of strings that know how much room there is (BSD's `strlcpy` and `strlcat`). The C library may lack them, so that the
//! models do the work themselves.

use super::compare::STRINGS;
use super::logic::{apply, ask};
use super::{MAX_STRING, answer, answer_checked, extent, give_up};
use crate::build::Value;
use crate::calls::{self, Args};
use crate::{memory, shadow, state};
use core::ffi::c_char;
use trace::{ConcretiseReason, Op};

unsafe extern "C" {
    fn strlen(string: *const c_char) -> usize;
    fn strnlen(string: *const c_char, limit: usize) -> usize;
}

/// Answers with `used` and the length of `from` together, and asks whether the copy fits into `size` bytes.
unsafe fn measured(to: *const c_char, used: usize, from: *const c_char, len: usize, size: usize) {
    unsafe {
        answer(0);
        let symbolic = |string: *const c_char, size: usize| shadow::any_label(string as usize, size);
        if !state::active() || !(symbolic(to, used) || symbolic(from, len + 1)) {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        if used.max(len) > MAX_STRING {
            return give_up();
        }
        let whole = extent(from.cast(), 1, len, usize::MAX);
        let length = STRINGS.measure(from.cast(), whole.count);
        let total = apply(Op::Add, 64, STRINGS.measure(to.cast(), used), length);
        ask(apply(Op::Ult, 64, total, Value::concrete(size as u64)));
        answer_checked(total, (used + len) as u64);
    }
}

/// Copies `len` bytes of a string to behind the `used` ones of `to`, as far as there is room.
unsafe fn append(to: *mut c_char, used: usize, from: *const c_char, len: usize, size: usize) {
    unsafe {
        if used >= size {
            return;
        }
        let count = len.min(size - used - 1);
        memory::copy_with_labels(to.add(used).cast(), from.cast(), count);
        shadow::clear(to as usize + used + count, 1);
        *to.add(used + count) = 0;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strlcpy(
    to: *mut c_char,
    from: *const c_char,
    size: usize,
) -> usize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let len = strlen(from);
        measured(to, 0, from, len, size);
        append(to, 0, from, len, size);
        len
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strlcat(
    to: *mut c_char,
    from: *const c_char,
    size: usize,
) -> usize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let (used, len) = (strnlen(to, size), strlen(from));
        measured(to, used, from, len, size);
        append(to, used, from, len, size);
        used + len
    }
}
