//! Where descriptors and streams stand in the input.
//!
//! A place that was found from the input's end is one for each length: a read came to the end, or
//! the program went there. It is told as the length and a constant.

use super::input::{ask_byte, input_length, is_input, position};
use super::stdio::{Stream, known, reading_input};
use super::table::real;
use super::unfollowed::fix_numbers;
use super::{answer, call_site, give_up, guarded, set_label};
use crate::outside::{note_model, output};
use crate::state::models;
use core::ffi::{c_int, c_long};
use runtime_core::build::{self, Value};
use runtime_core::calls::Args;
use runtime_core::facts::lengths;
use runtime_core::state::{Run, active};
use runtime_core::{events, nodes, os, shadow};
use trace::{ConcretiseReason, Label, Op};

const SEEK_SET: c_int = 0;
const SEEK_CUR: c_int = 1;
const SEEK_END: c_int = 2;
const SEEK_DATA: c_int = 3;
const SEEK_HOLE: c_int = 4;

/// The program goes to the place `offset` bytes from the input's end, which fails if the input is
/// not that long. The guard is held.
pub(crate) fn ask_from_end(run: &Run, offset: i64) {
    if offset < 0 {
        ask_byte(run, offset.unsigned_abs() - 1);
    }
}

/// The label of a place in the input that hangs on where the input ends, with the guard held.
pub(crate) fn place_from_end(run: &Run, place: i64) -> Label {
    let len = input_length(run);
    let offset = Value::concrete(place.wrapping_sub(len.value as i64) as u64);
    build::binary(run, Op::Add, 64, len, offset)
}

/// Where a read came to the end of the input, the place after it hangs on the length.
pub(crate) fn comes_to_end(run: &Run, after: u64, wanted: u64, got: u64) -> bool {
    got < wanted && after == run.segment.input_len() as u64
}

/// Input is read from a place that hangs on where it ends. Which bytes these are is known for this
/// length only. The guard is held.
#[cold]
pub(crate) fn fix_length(run: &Run) {
    if is_length_open(run) {
        events::concretise(run, nodes::length(run), ConcretiseReason::Argument, call_site());
    }
}

/// The path leaves several lengths.
fn is_length_open(run: &Run) -> bool {
    let range = lengths::range(run);
    nodes::length(run) != 0 && range.min != range.max
}

/// A descriptor's position has moved on: `got` of the bytes that were wanted, before `after`.
pub(super) fn note_position(run: &Run, fd: c_int, after: u64, wanted: u64, got: u64) {
    let at_end = &models().at_end;
    if at_end.get() == Some(fd) && got > 0 {
        guarded(fix_length);
    } else if comes_to_end(run, after, wanted, got) {
        at_end.set(Some(fd));
    }
}

/// `lseek`: places that are found from the end tell the input's length.
pub(super) fn moved(run: &Run, _: &Args, fd: c_int, offset: i64, whence: c_int) -> i64 {
    note_model();
    let is_input = is_input(run, fd);
    let before = if is_input { position(fd) } else { 0 };
    let result = os::lseek(fd, offset, whence);
    answer(0);
    if is_input {
        guarded(|run| note_moved(run, (fd, before), (offset, whence), result));
    } else if whence != SEEK_SET && result >= 0 {
        // How much the program has written there may hang on the input.
        output::note_other_data(run);
    }
    result
}

/// A descriptor of the input was moved, from `before`. The guard is held.
fn note_moved(run: &Run, (fd, before): (c_int, i64), (offset, whence): (i64, c_int), result: i64) {
    let at_end = &models().at_end;
    let len = run.segment.input_len() as i64;
    let is_from_end = match whence {
        SEEK_END => true,
        SEEK_CUR => at_end.get() == Some(fd),
        // Without holes in its file, that before the input's end is at the end.
        SEEK_HOLE => result == len,
        _ => false,
    };
    match whence {
        SEEK_END => ask_from_end(run, offset),
        SEEK_CUR if is_from_end && before >= 0 => {
            ask_from_end(run, (before - len).saturating_add(offset))
        }
        SEEK_CUR if before == len => note_unknown_position(run, fd),
        SEEK_HOLE | SEEK_DATA if offset >= 0 => ask_byte(run, offset as u64),
        _ => {}
    }
    if result < 0 {
        return;
    }
    if is_from_end {
        answer(place_from_end(run, result));
        at_end.set(Some(fd));
    } else if at_end.get() == Some(fd) {
        at_end.set(None);
    }
}

/// The descriptor stands at the input's end, and no model saw how it got there.
fn note_unknown_position(run: &Run, fd: c_int) {
    let models = models();
    if is_length_open(run) && (models.at_end.get().is_some() || models.streams.read_from(fd)) {
        give_up(run);
    }
}

/// `fseek`
pub(super) fn seek(
    run: &Run,
    _: &Args,
    stream: *mut Stream,
    offset: c_long,
    whence: c_int,
) -> c_int {
    note_model();
    let from_end = offset_from_end(run, stream, offset, whence);
    // SAFETY: the program's own call.
    let result = unsafe { real::fseek(stream, offset, whence) };
    answer(0);
    if (result == 0 || from_end.is_some())
        && let Some(stream) = reading_input(run, stream)
    {
        if let Some(offset) = from_end {
            guarded(|run| ask_from_end(run, offset));
        }
        if result == 0 {
            known(run, stream).note_move(from_end.is_some());
        }
    }
    result
}

/// Where a seek goes to, counted from the input's end, if that is where it counts from.
fn offset_from_end(run: &Run, stream: *mut Stream, offset: c_long, whence: c_int) -> Option<i64> {
    match whence {
        SEEK_END => Some(offset),
        SEEK_CUR => {
            let stream = reading_input(run, stream)?;
            let is_from_end = known(run, stream).from_end.get();
            let before = stream.position() - run.segment.input_len() as i64;
            is_from_end.then(|| before.saturating_add(offset))
        }
        _ => None,
    }
}

/// `rewind`
pub(super) fn rewind(run: &Run, _: &Args, stream: *mut Stream) {
    note_model();
    // SAFETY: the program's own call.
    unsafe { real::rewind(stream) };
    if let Some(stream) = reading_input(run, stream) {
        known(run, stream).note_move(false);
    }
}

/// The stream, if it stands at a place that hangs on where the input ends.
fn standing_from_end<'a>(run: &Run, stream: *mut Stream) -> Option<&'a Stream> {
    reading_input(run, stream).filter(|stream| known(run, stream).from_end.get())
}

/// `ftell`
pub(super) fn tell(run: &Run, _: &Args, stream: *mut Stream) -> c_long {
    // SAFETY: the program's own call.
    let result = unsafe { real::ftell(stream) };
    answer(0);
    if result >= 0 && standing_from_end(run, stream).is_some() {
        guarded(|run| answer(place_from_end(run, result)));
    }
    result
}

/// `fpos_t`
#[repr(C)]
pub struct Position {
    place: i64,
    state: u64,
}

/// `fgetpos`
pub(super) fn stream_position(
    run: &Run,
    _: &Args,
    stream: *mut Stream,
    position: *mut Position,
) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real::fgetpos(stream, position) };
    answer(0);
    if active(run) && result == 0 {
        shadow::clear(position as usize, size_of::<Position>());
        if standing_from_end(run, stream).is_some() {
            // SAFETY: the library has just filled it.
            let place = unsafe { (*position).place };
            guarded(|run| set_label(run, position.cast(), place_from_end(run, place), 8));
        }
    }
    result
}

/// `fsetpos`
pub(super) fn seek_position(
    run: &Run,
    _: &Args,
    stream: *mut Stream,
    position: *const Position,
) -> c_int {
    note_model();
    fix_numbers(run, position, 2, 8);
    // SAFETY: the program's own call.
    let result = unsafe { real::fsetpos(stream, position) };
    answer(0);
    if result == 0
        && let Some(stream) = reading_input(run, stream)
    {
        known(run, stream).note_move(false);
    }
    result
}
