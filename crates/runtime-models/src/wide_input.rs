//! Wide characters read from the input. A wide stream converts more bytes than the program has
//! seen, so the position is counted by the characters that were delivered; only ASCII characters
//! have expressions.

use super::element::Elements;
use super::logic::*;
use super::stdio::{Stream, next_of_wide};
use super::table::real;
use super::{answer, give_up, guarded, set_label};
use crate::sources::Source;
use core::cell::Cell;
use core::ffi::c_int;
use runtime_core::build::Value;
use runtime_core::calls::Args;
use runtime_core::shadow;
use runtime_core::state::Run;
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

/// What a wide stream reads, and the byte of it that comes next.
#[derive(Clone, Copy)]
struct Next<'a>(Source, &'a Cell<i64>);

impl Next<'_> {
    /// Of a stream, if it reads the input.
    fn of(run: &Run, stream: *mut Stream) -> Option<Next<'static>> {
        next_of_wide(run, stream).map(|(source, next)| Next(source, next))
    }

    fn offset(self) -> u64 {
        self.1.get().max(0) as u64
    }

    fn ask(self, run: &Run) {
        self.0.ask_byte(run, self.offset());
    }

    /// `None` if the source ends before it.
    fn byte(self, run: &Run) -> Option<Value> {
        let exists = self.offset() < self.0.len(run);
        exists.then(|| self.0.byte(run, self.offset()))
    }
}

/// The label of a character that the stream delivered from byte `next` on, and its events.
fn delivered(run: &Run, next: Next<'_>, c: u32) -> Label {
    next.ask(run);
    let Some(byte) = next.byte(run) else { return 0 };
    let plain = branch_on(run, apply_to(run, Op::Ult, 8, byte, 0x80));
    if c != END {
        next.1.update(|next| next + encoded_size(c));
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
    let next = Next::of(run, stream);
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
    let next = Next::of(run, stream);
    // SAFETY: the program's own call.
    let result = unsafe { real::ungetwc(c, stream) };
    answer(if result == c { labels.label(0) } else { 0 });
    if result != END
        && let Some(next) = next
    {
        next.1.update(|next| (next - encoded_size(c)).max(0));
    }
    result
}

/// A line of at most `limit` characters was delivered into `to`; it may hold 0.
fn delivered_line(run: &Run, to: *const i32, limit: usize, next: Next<'_>) {
    // The library has written as many as the input had for it.
    let line = Elements::new(to, limit);
    for i in 0..limit {
        if next.byte(run).is_none() {
            return next.ask(run);
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
fn refused_line(run: &Run, limit: usize, next: Next<'_>) {
    for _ in 0..limit {
        let byte = next.byte(run).map(|byte| byte.value as u32);
        let Some(c) = byte.filter(|byte| *byte < 0x80) else {
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
    let next = Next::of(run, stream);
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
