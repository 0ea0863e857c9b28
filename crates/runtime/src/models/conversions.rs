//! Bytes that become wide characters. Only what is ASCII has expressions; which bytes are is a
//! branch.

use super::characters::ascii;
use super::element::{Elements, MAX_STRING};
use super::logic::*;
use super::{answer, give_up, set_label};
use crate::build::Value;
use crate::calls::Args;
use crate::shadow;
use core::ffi::c_int;
use trace::Op;

/// More bytes than this are no character.
const MAX_ENCODED: usize = 16;

/// `btowc`
pub(super) unsafe fn of_byte(labels: &Args, c: c_int, result: u32) {
    unsafe {
        if labels.label(0) != 0 {
            ascii(Value::new(labels.label(0), c as u32 as u64));
            answer(if result == c as u32 { labels.label(0) } else { 0 });
        }
    }
}

/// The wide character of a byte, if both are the same ASCII character.
unsafe fn widened(c: Value, result: u64) -> Option<Value> {
    unsafe {
        if branch_on(apply_to(Op::Ult, 8, c, 0x80)) && c.value == result {
            return Some(zero_extended(8, 32, c));
        }
        if c.label != 0 {
            give_up();
        }
        None
    }
}

/// The library made wide characters of bytes, as long as those are ASCII.
unsafe fn label_widened(to: Elements<i32>, from: *const u8) {
    unsafe {
        shadow::clear(to.address(), to.count * 4);
        // SAFETY: the library read at least one byte for each character.
        let from = Elements::new(from, to.count);
        for i in 0..to.count.min(MAX_STRING) {
            // A 0 ends the text.
            branch_on(is(from.at(i), 0));
            let Some(wide) = widened(from.at(i), to.get(i) as u32 as u64) else { return };
            set_label((to.address() + i * 4) as *const u8, wide.label, 4);
        }
    }
}

/// The text has a byte that is no character: it is the first that is not ASCII, as far as the
/// model knows.
unsafe fn refused(from: *const u8, limit: usize) {
    unsafe {
        for i in 0..limit.min(MAX_STRING) {
            // SAFETY: the bytes before it are ASCII, so the library has read this one.
            let c = Elements::new(from.add(i), 1).at(0);
            if branch_on(is(c, 0)) || !branch_on(apply_to(Op::Ult, 8, c, 0x80)) {
                break;
            }
        }
        give_up();
    }
}

/// `mbstowcs`
pub(super) unsafe fn of_string(_: &Args, to: *mut i32, from: *const u8, limit: usize, result: usize) {
    unsafe {
        if to.is_null() {
            return;
        }
        if result == usize::MAX {
            return refused(from, limit);
        }
        // SAFETY: the library has just written them.
        label_widened(Elements::new(to, (result + 1).min(limit)), from);
    }
}

/// `mbrtowc`: one character was converted, of which `used` bytes were read.
pub(super) unsafe fn of_character(
    _: &Args,
    to: *mut i32,
    from: *const u8,
    _: usize,
    _: *mut u8,
    used: usize,
) {
    unsafe {
        if from.is_null() || used > MAX_ENCODED {
            return;
        }
        if used <= 1 && !to.is_null() {
            // SAFETY: the library has just written it.
            return label_widened(Elements::new(to, 1), from);
        }
        if !to.is_null() {
            shadow::clear(to as usize, 4);
        }
        if shadow::any_label(from as usize, used) {
            give_up();
        }
    }
}

/// `mbtowc`
pub(super) unsafe fn of_character_in_process(
    labels: &Args,
    to: *mut i32,
    from: *const u8,
    limit: usize,
    used: c_int,
) {
    unsafe { of_character(labels, to, from, limit, core::ptr::null_mut(), used as usize) }
}
