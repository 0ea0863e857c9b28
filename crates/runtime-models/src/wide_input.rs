//! Wide characters read from the input. A wide stream converts more bytes than the program has
//! seen, so the position is counted by the characters that were delivered; only ASCII characters
//! have expressions.

use super::element::Elements;
use super::input::ask_byte;
use super::logic::*;
use super::stdio::{Stream, next_of_wide};
use super::table::real;
use super::{answer, give_up, guarded, set_label};
use core::cell::Cell;
use core::ffi::c_int;
use runtime_core::build::Value;
use runtime_core::calls::Args;
use runtime_core::state::Run;
use runtime_core::{nodes, shadow};
use trace::{Label, Op};

const END: u32 = u32::MAX;

/// Bytes of a character in UTF-8.
fn encoded_size(c: u32) -> i64 {
    match c {
        0..0x80 => 1,
        0x80..0x800 => 2,
        0x800..0x1_0000 => 3,
        _ => 4,
    }
}

/// The number of an input byte; `None` if the input ends before it.
fn place_in_input(run: &Run, next: i64) -> Option<u32> {
    let place = u32::try_from(next.max(0)).ok()?;
    (place < run.segment.input_len()).then_some(place)
}

/// The label of a character that the stream delivered from byte `next` on, and its events.
fn delivered(run: &Run, next: &Cell<i64>, c: u32) -> Label {
    ask_byte(run, next.get().max(0) as u64);
    let Some(at) = place_in_input(run, next.get()) else { return 0 };
    let byte = nodes::input_value(run, at);
    let plain = branch_on(run, apply_to(run, Op::Ult, 8, byte, 0x80));
    if c != END {
        next.update(|next| next + encoded_size(c));
    }
    if plain && byte.value == c as u64 {
        return zero_extended(run, 8, 32, byte).label;
    }
    give_up(run);
    0
}

/// Whether a character with this label ends the line: a branch.
fn ends_line(run: &Run, label: Label, c: u32) -> bool {
    branch_on(run, apply_to(run, Op::Eq, 32, Value::new(label, c as u64), b'\n' as u64))
}

/// `fgetwc`
pub(super) fn next(run: &Run, _: &Args, stream: *mut Stream) -> u32 {
    let next = next_of_wide(run, stream);
    // SAFETY: the program's own call.
    let result = unsafe { real::fgetwc(stream) };
    answer(0);
    if let Some(next) = next {
        guarded(|run| answer(delivered(run, next, result)));
    }
    result
}

/// `ungetwc`
pub(super) fn push_back(run: &Run, labels: &Args, c: u32, stream: *mut Stream) -> u32 {
    let next = next_of_wide(run, stream);
    // SAFETY: the program's own call.
    let result = unsafe { real::ungetwc(c, stream) };
    answer(if result == c { labels.label(0) } else { 0 });
    if result != END
        && let Some(next) = next
    {
        next.update(|next| (next - encoded_size(c)).max(0));
    }
    result
}

/// A line of at most `limit` characters was delivered into `to`; it may hold 0.
fn delivered_line(run: &Run, to: *const i32, limit: usize, next: &Cell<i64>) {
    // The library has written as many as the input had for it.
    let line = Elements::new(to, limit);
    for i in 0..limit {
        if place_in_input(run, next.get()).is_none() {
            return ask_byte(run, next.get().max(0) as u64);
        }
        let c = line.get(i) as u32;
        let label = delivered(run, next, c);
        set_label(run, to.wrapping_add(i).cast(), label, 4);
        if ends_line(run, label, c) {
            return;
        }
    }
}

/// No line was delivered: the input ended, or has a byte that is no character.
fn refused_line(run: &Run, limit: usize, next: &Cell<i64>) {
    for _ in 0..limit {
        let byte = place_in_input(run, next.get()).map(|place| run.segment.input_byte(place));
        let Some(c) = byte.filter(u8::is_ascii).map(u32::from) else {
            delivered(run, next, END);
            return;
        };
        let label = delivered(run, next, c);
        ends_line(run, label, c);
    }
}

/// `fgetws`
pub(super) fn line(
    run: &Run,
    _: &Args,
    to: *mut i32,
    size: c_int,
    stream: *mut Stream,
) -> *mut i32 {
    let next = next_of_wide(run, stream);
    // SAFETY: the program's own call.
    let result = unsafe { real::fgetws(to, size, stream) };
    answer(0);
    let limit = size.max(1) as usize - 1;
    if !result.is_null() {
        // SAFETY: the library has just ended the line with a 0.
        shadow::clear(to as usize, (unsafe { real::wcslen(to) } + 1) * 4);
    }
    let Some(next) = next else { return result };
    guarded(|run| match result.is_null() {
        true => refused_line(run, limit, next),
        false => delivered_line(run, to, limit, next),
    });
    result
}
