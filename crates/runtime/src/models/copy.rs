//! Copies and fills of strings and memory.

use super::compare::{STRINGS, ask_cut};
use super::logic::{apply, apply_to, ask, is};
use super::search::wanted_byte;
use super::{MAX_STRING, answer, byte, call_site, extent, give_up_outside};
use crate::build::Value;
use crate::calls::{self, Args};
use crate::{address, events, memory, shadow, state, stretches};
use core::ffi::{c_char, c_int, c_void};
use trace::{ConcretiseReason, Op};

unsafe extern "C" {
    fn strlen(string: *const c_char) -> usize;
    fn strnlen(string: *const c_char, limit: usize) -> usize;
    fn memccpy(to: *mut c_void, from: *const c_void, c: c_int, size: usize) -> *mut c_void;
    fn swab(from: *const c_void, to: *mut c_void, size: isize);
}

/// A copy of the string `from` to behind the `used` bytes of `to` stays within the object that `to` is in: a property, as
/// far as the lengths depend on the input.
unsafe fn check_room(to: *const c_char, used: usize, from: *const c_char, size: usize) {
    unsafe {
        let symbolic = |string: *const c_char, size: usize| shadow::any_label(string as usize, size);
        if !state::active()
            || used.max(size) > MAX_STRING
            || !(symbolic(to, used) || symbolic(from, size + 1))
        {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let extent = extent(from.cast(), 1, size, usize::MAX);
        let length =
            apply(Op::Add, 64, STRINGS.measure(to.cast(), used), STRINGS.measure(from.cast(), extent.count));
        address::check_room(to as usize, apply_to(Op::Add, 64, length, 1), call_site());
    }
}

/// Takes the labels of a call that accesses `count` elements of a size at two places, which may be one. A count that goes beyond the
/// objects there is asked for; then everything is fixed. The count is the argument in the slot.
pub(super) unsafe fn take_sized(
    slot: usize,
    places: [*const c_void; 2],
    count: usize,
    element: usize,
) -> Args {
    unsafe {
        let args = Args::take();
        if args.label(slot) != 0
            && let Some(_entered) = state::enter()
        {
            check_count(Value::new(args.label(slot), count as u64), places, element);
        }
        calls::concretise_args(&args, ConcretiseReason::CopyLength);
        args
    }
}

/// The guard is held.
unsafe fn check_count(count: Value, [first, second]: [*const c_void; 2], element: usize) {
    unsafe {
        let size = apply(Op::Mul, 64, count, Value::concrete(element as u64));
        address::check_room(first as usize, size, call_site());
        if second != first {
            address::check_room(second as usize, size, call_site());
        }
    }
}

/// At most `limit` bytes of a string are copied, and on this run `size`.
unsafe fn ask_copied(from: *const c_char, size: usize, limit: usize) {
    unsafe {
        if stretches::any()
            && let Some(_entered) = state::enter()
        {
            ask_cut(from.cast(), size, limit);
        }
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
        let size = strlen(from);
        check_room(to, 0, from, size);
        copy_string(to, from, size);
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_stpcpy(to: *mut c_char, from: *const c_char) -> *mut c_char {
    unsafe {
        calls::__tgi_args_taken();
        let size = strlen(from);
        check_room(to, 0, from, size);
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
        take_sized(2, [to.cast(), to.cast()], size, 1);
        let used = strnlen(from, size);
        ask_copied(from, used, size);
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
        let (used, size) = (strlen(to), strlen(from));
        check_room(to, used, from, size);
        copy_string(to.add(used), from, size);
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
        let (used, size) = (strlen(to), strnlen(from, limit));
        ask_copied(from, size, limit);
        if stretches::any() {
            check_room(to, used, from, size);
        }
        copy_string(to.add(used), from, size);
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
        let args = take_sized(2, [to, from], size, 1);
        if args.label(2) == 0 {
            memory::check_text(to as usize, from.cast(), size);
        }
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
            check_count(Value::new(args.label(2), size as u64), [to, to], 1);
            events::concretise(args.label(0), ConcretiseReason::WriteAddress, call_site());
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

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_bcopy(from: *const c_void, to: *mut c_void, size: usize) {
    unsafe {
        __tarragon_model_memcpy(to, from, size);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_bzero(to: *mut c_void, size: usize) {
    unsafe {
        take_sized(1, [to, to], size, 1);
        memory::fill_with_label(to.cast(), 0, size, 0);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_explicit_bzero(to: *mut c_void, size: usize) {
    unsafe { __tarragon_model_bzero(to, size) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_stpncpy(
    to: *mut c_char,
    from: *const c_char,
    size: usize,
) -> *mut c_char {
    unsafe {
        __tarragon_model_strncpy(to, from, size);
        to.add(strnlen(to, size))
    }
}

/// Where the copy stops is a branch for each byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_memccpy(
    to: *mut c_void,
    from: *const c_void,
    c: c_int,
    size: usize,
) -> *mut c_void {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = memccpy(to, from, c, size);
        answer(0);
        let copied = if result.is_null() { size } else { result as usize - to as usize };
        if !shadow::any_label(from as usize, copied) {
            shadow::clear(to as usize, copied);
            return result;
        }
        shadow::copy(to as usize, from as usize, copied);
        if copied > MAX_STRING {
            give_up_outside();
        } else if let Some(_entered) = state::enter() {
            for i in 0..copied {
                ask(is(byte(to.cast::<u8>().add(i)), c as u8));
            }
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_swab(from: *const c_void, to: *mut c_void, size: isize) {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let pairs = size.max(0) as usize / 2;
        for pair in 0..pairs {
            let (from, to) = (from as usize + pair * 2, to as usize + pair * 2);
            let (first, second) = (shadow::entry(from), shadow::entry(from + 1));
            shadow::set_entry(to, second);
            shadow::set_entry(to + 1, first);
        }
        swab(from, to, size);
    }
}
