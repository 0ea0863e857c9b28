//! Strings and memory of wide characters: lengths, comparisons, copies.

use super::answer;
use super::compare::{Order, WIDE_MEMORY, WIDE_STRINGS};
use super::logic::*;
use crate::build::Value;
use crate::calls::{self, Args};
use crate::{memory, shadow, state};
use core::ffi::{c_char, c_int};
use trace::{ConcretiseReason, Op};

unsafe extern "C" {
    fn wcslen(string: *const i32) -> usize;
    fn wcsnlen(string: *const i32, limit: usize) -> usize;
    fn wcscmp(a: *const i32, b: *const i32) -> c_int;
    fn wcsncmp(a: *const i32, b: *const i32, limit: usize) -> c_int;
    fn wcscasecmp(a: *const i32, b: *const i32) -> c_int;
    fn wcsncasecmp(a: *const i32, b: *const i32, limit: usize) -> c_int;
    fn wmemcmp(a: *const i32, b: *const i32, count: usize) -> c_int;
    fn setlocale(category: c_int, name: *const c_char) -> *const c_char;
}

const LC_CTYPE: c_int = 0;

pub(super) unsafe fn length(string: *const i32) -> usize {
    unsafe { wcslen(string) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcslen(string: *const i32) -> usize {
    unsafe {
        calls::__tgi_args_taken();
        let count = wcslen(string);
        WIDE_STRINGS.measured(string.cast(), count, usize::MAX);
        count
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcsnlen(string: *const i32, limit: usize) -> usize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let count = wcsnlen(string, limit);
        WIDE_STRINGS.measured(string.cast(), count, limit);
        count
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcscmp(a: *const i32, b: *const i32) -> c_int {
    unsafe {
        calls::__tgi_args_taken();
        let result = wcscmp(a, b);
        WIDE_STRINGS.compared_strings(a.cast(), b.cast(), usize::MAX, result);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcsncmp(a: *const i32, b: *const i32, limit: usize) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = wcsncmp(a, b, limit);
        WIDE_STRINGS.compared_strings(a.cast(), b.cast(), limit, result);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wmemcmp(a: *const i32, b: *const i32, count: usize) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = wmemcmp(a, b, count);
        WIDE_MEMORY.compared(a.cast(), b.cast(), count, result);
        result
    }
}

/// Strings in which the case of ASCII letters does not count.
const WIDE_FOLDED: Order = Order { fold: wide_lower, ..WIDE_STRINGS };

unsafe fn wide_lower(c: Value) -> Value {
    unsafe {
        let above = apply(Op::Ule, 32, Value::concrete(b'A'.into()), c);
        let below = apply_to(Op::Ule, 32, c, b'Z'.into());
        choose(32, both(above, below), apply_to(Op::Or, 32, c, 0x20), c)
    }
}

/// In other locales characters beyond ASCII have a case, too.
unsafe fn only_ascii_has_case() -> bool {
    // SAFETY: asking for the name changes nothing; the name ends with 0.
    unsafe {
        let name = setlocale(LC_CTYPE, core::ptr::null()).cast::<u8>();
        !name.is_null() && (*name == b'C' || *name == b'P') && matches!(*name.add(1), 0 | b'O')
    }
}

unsafe fn compared_without_case(a: *const i32, b: *const i32, limit: usize, result: c_int) {
    unsafe {
        if state::active() && !only_ascii_has_case() {
            answer(0);
            let count = |string: *const i32| wcsnlen(string, limit) * 4;
            if shadow::any_label(a as usize, count(a)) || shadow::any_label(b as usize, count(b)) {
                super::give_up_outside();
            }
            return;
        }
        WIDE_FOLDED.compared_strings(a.cast(), b.cast(), limit, result);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcscasecmp(a: *const i32, b: *const i32) -> c_int {
    unsafe {
        calls::__tgi_args_taken();
        let result = wcscasecmp(a, b);
        compared_without_case(a, b, usize::MAX, result);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcsncasecmp(a: *const i32, b: *const i32, limit: usize) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = wcsncasecmp(a, b, limit);
        compared_without_case(a, b, limit, result);
        result
    }
}

unsafe fn copy(to: *mut i32, from: *const i32, count: usize) {
    unsafe { memory::copy_with_labels(to.cast(), from.cast(), count * 4) }
}

unsafe fn fill(to: *mut i32, c: i32, count: usize, label: u32) {
    unsafe {
        for i in 0..count {
            to.add(i).write(c);
        }
        shadow::clear(to as usize, count * 4);
        if label != 0
            && let Some(_entered) = state::enter()
        {
            for i in 0..count {
                super::set_label(to.add(i).cast(), label, 4);
            }
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcscpy(to: *mut i32, from: *const i32) -> *mut i32 {
    unsafe {
        calls::__tgi_args_taken();
        copy(to, from, wcslen(from) + 1);
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcsncpy(to: *mut i32, from: *const i32, count: usize) -> *mut i32 {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let used = wcsnlen(from, count);
        copy(to, from, used);
        fill(to.add(used), 0, count - used, 0);
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcscat(to: *mut i32, from: *const i32) -> *mut i32 {
    unsafe {
        calls::__tgi_args_taken();
        copy(to.add(wcslen(to)), from, wcslen(from) + 1);
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcsncat(to: *mut i32, from: *const i32, limit: usize) -> *mut i32 {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let (end, count) = (to.add(wcslen(to)), wcsnlen(from, limit));
        copy(end, from, count);
        fill(end.add(count), 0, 1, 0);
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wmemcpy(to: *mut i32, from: *const i32, count: usize) -> *mut i32 {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        copy(to, from, count);
        answer(0);
        to
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wmemmove(to: *mut i32, from: *const i32, count: usize) -> *mut i32 {
    unsafe { __tarragon_model_wmemcpy(to, from, count) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wmempcpy(to: *mut i32, from: *const i32, count: usize) -> *mut i32 {
    unsafe { __tarragon_model_wmemcpy(to, from, count).add(count) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wmemset(to: *mut i32, c: i32, count: usize) -> *mut i32 {
    unsafe {
        let args = Args::take();
        super::concretise(args.label(2), ConcretiseReason::CopyLength);
        fill(to, c, count, args.label(1));
        answer(0);
        to
    }
}
