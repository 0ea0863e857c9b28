//! Memory that library functions read and their models do not describe: pointers and sizes that
//! stand there, formats, names. Labels of arguments are the wrappers' business.

use super::element::Element;
use super::{byte, element, ends, give_up_outside, guarded};
use runtime_core::calls::call_site;
use runtime_core::state::{Run, active};
use runtime_core::{events, shadow};
use trace::ConcretiseReason;

/// Fixes so many numbers of `size` bytes that the library is about to read.
pub(super) fn fix_numbers<T>(run: &Run, at: *const T, count: usize, size: usize) {
    if !active(run) || at.is_null() || !shadow::any_label(at as usize, count * size) {
        return;
    }
    guarded(|run| {
        for i in 0..count {
            let number = element(run, at.cast::<u8>().wrapping_add(i * size), size);
            events::concretise(run, number.label, ConcretiseReason::Argument, call_site());
        }
    });
}

/// Fixes a pointer that the library is about to read.
pub(super) fn fix_pointer<T>(run: &Run, at: *const T) {
    fix_numbers(run, at, 1, size_of::<usize>());
}

/// Fixes so many bytes that the library has read. The guard is held.
pub(super) fn fix_bytes(run: &Run, at: *const u8, count: usize) {
    for i in 0..count {
        let label = byte(run, at.wrapping_add(i)).label;
        events::concretise(run, label, ConcretiseReason::Argument, call_site());
    }
}

/// Fixes a string that the library reads.
pub(super) fn fix_string(run: &Run, text: *const u8) {
    if active(run) && ends::is_symbolic(text) {
        guarded(|run| fix_bytes(run, text, u8::length(text) + 1));
    }
}

/// What a name stands for that the input has a say in is not known for other inputs.
pub(super) fn note_name(run: &Run, name: *const u8) {
    if active(run) && !name.is_null() && ends::is_symbolic(name) {
        give_up_outside();
    }
}
