//! Where descriptors and streams stand in the input.
//!
//! A place that was found from the input's end is one for each length: a read came to the end, or
//! the program went there. It is told as the length and a constant.

use super::input::{position, source_of};
use super::stdio::{Stream, known, reading_input};
use super::table::real;
use super::unfollowed::fix_numbers;
use super::{answer, call_site, give_up, guarded, set_label};
use crate::outside::{note_model, output};
use crate::sources::Source;
use crate::state::models;
use core::ffi::{c_int, c_long};
use runtime_core::build::{self, Value};
use runtime_core::calls::Args;
use runtime_core::state::{Run, active};
use runtime_core::{events, os, shadow};
use trace::{ConcretiseReason, Label, Op};

const SEEK_SET: c_int = 0;
const SEEK_CUR: c_int = 1;
const SEEK_END: c_int = 2;
const SEEK_DATA: c_int = 3;
const SEEK_HOLE: c_int = 4;

/// The program goes to the place `offset` bytes from the source's end, which fails if that is not
/// so long. The guard is held.
pub(crate) fn ask_from_end(run: &Run, source: Source, offset: i64) {
    if offset < 0 {
        source.ask_byte(run, offset.unsigned_abs() - 1);
    }
}

/// The label of a place in the source that hangs on where that ends, with the guard held.
pub(crate) fn place_from_end(run: &Run, source: Source, place: i64) -> Label {
    let len = source.length(run);
    let offset = Value::concrete(place.wrapping_sub(len.value as i64) as u64);
    build::binary(run, Op::Add, 64, len, offset)
}

/// Where a read came to the end of the input, the place after it hangs on the length.
pub(crate) fn comes_to_end(run: &Run, source: Source, after: u64, wanted: u64, got: u64) -> bool {
    got < wanted && after == source.len(run)
}

/// Input is read from a place that hangs on where it ends. Which bytes these are is known for this
/// length only. The guard is held.
#[cold]
pub(crate) fn fix_length(run: &Run, source: Source) {
    if source.is_length_open(run) {
        let length = source.length(run).label;
        events::concretise(run, length, ConcretiseReason::Argument, call_site());
    }
}

/// A descriptor's position has moved on: `got` of the bytes that were wanted, before `after`.
pub(super) fn note_position(
    run: &Run,
    (source, fd): (Source, c_int),
    after: u64,
    wanted: u64,
    got: u64,
) {
    let at_end = &models().at_end;
    if at_end.get() == Some(fd) && got > 0 {
        guarded(|run| fix_length(run, source));
    } else if comes_to_end(run, source, after, wanted, got) {
        at_end.set(Some(fd));
    }
}

/// `lseek`: places that are found from the end tell the input's length.
pub(super) fn moved(run: &Run, _: &Args, fd: c_int, offset: i64, whence: c_int) -> i64 {
    note_model();
    let source = source_of(run, fd);
    let before = if source.is_some() { position(fd) } else { 0 };
    let result = os::lseek(fd, offset, whence);
    answer(0);
    if let Some(source) = source {
        guarded(|run| note_moved(run, source, (fd, before), (offset, whence), result));
    } else if whence != SEEK_SET && result >= 0 {
        // How much the program has written there may hang on the input.
        output::note_other_data(run);
    }
    result
}

/// A descriptor of the input was moved, from `before`. The guard is held.
fn note_moved(
    run: &Run,
    source: Source,
    (fd, before): (c_int, i64),
    (offset, whence): (i64, c_int),
    result: i64,
) {
    let at_end = &models().at_end;
    let len = source.len(run) as i64;
    let is_from_end = match whence {
        SEEK_END => true,
        SEEK_CUR => at_end.get() == Some(fd),
        // Without holes in its file, that before the input's end is at the end.
        SEEK_HOLE => result == len,
        _ => false,
    };
    match whence {
        SEEK_END => ask_from_end(run, source, offset),
        SEEK_CUR if is_from_end && before >= 0 => {
            ask_from_end(run, source, (before - len).saturating_add(offset))
        }
        SEEK_CUR if before == len => note_unknown_position(run, source, fd),
        SEEK_HOLE | SEEK_DATA if offset >= 0 => source.ask_byte(run, offset as u64),
        _ => {}
    }
    if result < 0 {
        return;
    }
    if is_from_end {
        answer(place_from_end(run, source, result));
        at_end.set(Some(fd));
    } else if at_end.get() == Some(fd) {
        at_end.set(None);
    }
}

/// The descriptor stands at the input's end, and no model saw how it got there.
fn note_unknown_position(run: &Run, source: Source, fd: c_int) {
    let models = models();
    if source.is_length_open(run) && (models.at_end.get().is_some() || models.streams.read_from(fd))
    {
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
        && let Some((stream, source)) = reading_input(run, stream)
    {
        if let Some(offset) = from_end {
            guarded(|run| ask_from_end(run, source, offset));
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
            let (stream, source) = reading_input(run, stream)?;
            let is_from_end = known(run, stream).from_end.get();
            let before = stream.position() - source.len(run) as i64;
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
    if let Some((stream, _)) = reading_input(run, stream) {
        known(run, stream).note_move(false);
    }
}

/// What the stream reads, if it stands at a place that hangs on where that ends.
fn standing_from_end(run: &Run, stream: *mut Stream) -> Option<Source> {
    let (stream, source) = reading_input(run, stream)?;
    known(run, stream).from_end.get().then_some(source)
}

/// `ftell`
pub(super) fn tell(run: &Run, _: &Args, stream: *mut Stream) -> c_long {
    // SAFETY: the program's own call.
    let result = unsafe { real::ftell(stream) };
    answer(0);
    if result >= 0
        && let Some(source) = standing_from_end(run, stream)
    {
        guarded(|run| answer(place_from_end(run, source, result)));
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
        if let Some(source) = standing_from_end(run, stream) {
            // SAFETY: the library has just filled it.
            let place = unsafe { (*position).place };
            let label = |run: &Run| place_from_end(run, source, place);
            guarded(|run| set_label(run, position.cast(), label(run), 8));
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
        && let Some((stream, _)) = reading_input(run, stream)
    {
        known(run, stream).note_move(false);
    }
    result
}
