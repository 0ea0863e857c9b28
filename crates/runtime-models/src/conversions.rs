//! Bytes that become wide characters. Only what is ASCII has expressions; which bytes are is a
//! branch.

use super::characters::ascii;
use super::element::{Elements, MAX_STRING};
use super::logic::*;
use super::{answer, give_up, set_label};
use core::ffi::c_int;
use runtime_core::build::Value;
use runtime_core::calls::Args;
use runtime_core::shadow;
use runtime_core::state::Run;
use trace::Op;

/// Bytes of `mbstate_t`.
const STATE: usize = 8;
/// More bytes than this are no character.
const MAX_ENCODED: usize = 16;

/// `btowc`
pub(super) fn of_byte(run: &Run, labels: &Args, c: c_int, result: u32) {
    if labels.label(0) != 0 {
        ascii(run, Value::new(labels.label(0), c as u32 as u64));
        answer(if result == c as u32 { labels.label(0) } else { 0 });
    }
}

/// The wide character of a byte, if both are the same ASCII character.
fn widened(run: &Run, c: Value, result: u64) -> Option<Value> {
    if branch_on(run, apply_to(run, Op::Ult, 8, c, 0x80)) && c.value == result {
        return Some(zero_extended(run, 8, 32, c));
    }
    if c.label != 0 {
        give_up(run);
    }
    None
}

/// The library made wide characters of bytes, as long as those are ASCII.
fn label_widened(run: &Run, to: Elements<i32>, from: *const u8) {
    shadow::clear(to.address(), to.count * 4);
    // The library read at least one byte for each character.
    let from = Elements::new(from, to.count);
    for i in 0..to.count.min(MAX_STRING) {
        // A 0 ends the text.
        branch_on(run, is(run, from.at(run, i), 0));
        let Some(wide) = widened(run, from.at(run, i), to.get(i) as u32 as u64) else { return };
        set_label(run, (to.address() + i * 4) as *const u8, wide.label, 4);
    }
}

/// The library counted so many characters, the end included, as long as those are ASCII.
fn count_widened(run: &Run, from: *const u8, count: usize) {
    // The library read at least one byte for each character.
    let from = Elements::new(from, count);
    for i in 0..count.min(MAX_STRING) {
        let c = from.at(run, i);
        branch_on(run, is(run, c, 0));
        if widened(run, c, c.value).is_none() {
            return;
        }
    }
}

/// The text has a byte that is no character: it is the first that is not ASCII, as far as the
/// model knows.
fn refused(run: &Run, from: *const u8, limit: usize) {
    for i in 0..limit.min(MAX_STRING) {
        // The bytes before it are ASCII, so the library has read this one.
        let c = Elements::new(from.wrapping_add(i), 1).at(run, 0);
        if branch_on(run, is(run, c, 0)) || !branch_on(run, apply_to(run, Op::Ult, 8, c, 0x80)) {
            break;
        }
    }
    give_up(run);
}

/// `mbstowcs`
pub(super) fn of_string(
    run: &Run,
    _: &Args,
    to: *mut i32,
    from: *const u8,
    limit: usize,
    result: usize,
) {
    let limit = if to.is_null() { usize::MAX } else { limit };
    if result == usize::MAX {
        return refused(run, from, limit);
    }
    if to.is_null() {
        return count_widened(run, from, result + 1);
    }
    label_widened(run, Elements::new(to, (result + 1).min(limit)), from);
}

/// `mbrtowc`: one character was converted, of which `used` bytes were read, or none.
pub(super) fn of_character(
    run: &Run,
    _: &Args,
    to: *mut i32,
    from: *const u8,
    limit: usize,
    state: *mut u8,
    used: usize,
) {
    if !state.is_null() && shadow::any_label(state as usize, STATE) {
        give_up(run);
    }
    match used {
        _ if from.is_null() => {}
        0 | 1 if to.is_null() => count_widened(run, from, 1),
        0 | 1 => label_widened(run, Elements::new(to, 1), from),
        _ if used > MAX_ENCODED => {
            if shadow::any_label(from as usize, limit.min(MAX_ENCODED)) {
                refused(run, from, limit.min(1));
            }
        }
        _ => {
            if !to.is_null() {
                shadow::clear(to as usize, 4);
            }
            if shadow::any_label(from as usize, used) {
                refused(run, from, 1);
            }
        }
    }
}

/// `mbtowc`
pub(super) fn of_character_in_process(
    run: &Run,
    labels: &Args,
    to: *mut i32,
    from: *const u8,
    limit: usize,
    used: c_int,
) {
    of_character(run, labels, to, from, limit, core::ptr::null_mut(), used as usize)
}
