//! Buffered input. The stream's buffer gets the labels of the input bytes in it, so that code which
//! reads the buffer itself (`getc_unlocked` as a macro) works like the functions do.

use super::element::Elements;
use super::input::{answer_from_end, ask_byte, ask_bytes, is_input, label_input};
use super::logic::{apply_to, branch_on, is};
use super::state::MODEL_STATE;
use super::table::real;
use super::{answer, byte, element, give_up_outside, guarded};
use crate::build::{self, Value};
use crate::calls::Args;
use crate::state::active;
use crate::{objects, os, outside, shadow, stretches};
use core::ffi::{c_int, c_long, c_void};
use trace::{Label, Op};

/// The part of glibc's `FILE` that its own macros have always exposed.
#[repr(C)]
pub struct Stream {
    flags: c_int,
    read_ptr: *mut u8,
    read_end: *mut u8,
    read_base: *mut u8,
    write_base: *mut u8,
    write_ptr: *mut u8,
    write_end: *mut u8,
    buf_base: *mut u8,
    buf_end: *mut u8,
    save_base: *mut u8,
    backup_base: *mut u8,
    save_end: *mut u8,
    markers: *mut c_void,
    chain: *mut c_void,
    fileno: c_int,
}

/// The stream reads from a push-back area, not from its buffer.
const IN_BACKUP: c_int = 0x100;
/// The stream has a descriptor.
const IS_FILE: c_int = 0x2000;

unsafe extern "C" {
    fn feof(stream: *mut Stream) -> c_int;
    pub(crate) static stdin: *mut Stream;
    pub(crate) static stdout: *mut Stream;
}

/// What is known of a stream.
#[derive(Clone, Copy)]
struct Known {
    stream: *mut Stream,
    input: bool,
    /// Input byte that the stream delivers next, as far as models were used; -1 if not known.
    next: i64,
    /// Bytes that were put back and are not those of the input that were there.
    pushed: u32,
    /// The last `fseek` was to this place, counted from the input's end.
    from_end: Option<i64>,
    /// The buffer that has its labels: its start, its size, and where it ends in the file.
    labelled: (usize, usize, i64),
}

impl Known {
    const NOTHING: Known = Known {
        stream: core::ptr::null_mut(),
        input: false,
        next: -1,
        pushed: 0,
        from_end: None,
        labelled: (0, 0, 0),
    };

    /// The stream was moved: to a place counted from the input's end, or elsewhere.
    fn note_move(&mut self, from_end: Option<i64>) {
        let Known { stream, input, .. } = *self;
        *self = Known { stream, input, from_end, ..Known::NOTHING };
    }
}

/// The streams used last.
pub(super) struct Streams {
    known: [Known; 4],
    next: usize,
}

impl Streams {
    pub(super) const NONE: Streams = Streams { known: [Known::NOTHING; 4], next: 0 };
}

/// Which streams read the input is to be found out anew.
pub unsafe fn forget_streams() {
    unsafe { MODEL_STATE.streams.known = [Known::NOTHING; 4] };
}

#[inline(always)]
unsafe fn known(stream: *mut Stream) -> *mut Known {
    unsafe {
        let first = &raw mut MODEL_STATE.streams.known[0];
        if (*first).stream == stream { first } else { find_known(stream) }
    }
}

#[inline(never)]
unsafe fn find_known(stream: *mut Stream) -> *mut Known {
    unsafe {
        let streams = &mut MODEL_STATE.streams;
        if let Some(slot) = streams.known.iter_mut().find(|known| known.stream == stream) {
            return slot;
        }
        let slot = &raw mut streams.known[streams.next & 3];
        streams.next = streams.next.wrapping_add(1);
        let input = is_input((*stream).fileno);
        *slot = Known { stream, input, ..Known::NOTHING };
        if input {
            outside::watch((*stream).fileno, stream);
        }
        slot
    }
}

unsafe fn reads_input(stream: *mut Stream) -> bool {
    unsafe {
        if !active() || stream.is_null() {
            return false;
        }
        let input = (*known(stream)).input;
        if input {
            outside::note_model();
        } else {
            outside::note_other_data();
        }
        input
    }
}

/// The descriptor of a stream; -1 if it has none, as one that prints into memory.
pub(crate) unsafe fn descriptor(stream: *mut Stream) -> c_int {
    unsafe { if stream.is_null() || (*stream).flags & IS_FILE == 0 { -1 } else { (*stream).fileno } }
}

/// Offset in the file of what the stream reads from it next.
unsafe fn file_position(stream: *mut Stream) -> i64 {
    unsafe { os::lseek((*stream).fileno, 0, os::SEEK_CUR) }
}

/// Offset in the file of the byte that the stream delivers next.
unsafe fn position(stream: *mut Stream) -> i64 {
    unsafe { position_before(stream, file_position(stream)) }
}

pub(crate) unsafe fn position_before(stream: *mut Stream, end: i64) -> i64 {
    unsafe {
        let mut ahead = (*stream).read_end as i64 - (*stream).read_ptr as i64;
        if (*stream).flags & IN_BACKUP != 0 {
            ahead += (*stream).save_end as i64 - (*stream).save_base as i64;
        }
        end - ahead
    }
}

/// Labels the whole buffer, which ends at `end` in the file, unless it has its labels: a line takes
/// a small part of it.
unsafe fn label_buffer(stream: *mut Stream, end: i64) {
    unsafe {
        if (*stream).flags & IN_BACKUP != 0 {
            return;
        }
        let base = (*stream).read_base as usize;
        let size = (*stream).read_end as usize - base;
        let labelled = core::mem::replace(&mut (*known(stream)).labelled, (base, size, end));
        if end >= size as i64 && labelled != (base, size, end) {
            label_input((*stream).read_base, (end - size as i64) as u64, size);
        }
    }
}

/// The input byte that the stream delivers next, if it reads the input.
pub(super) unsafe fn input_position(stream: *mut Stream) -> Option<u64> {
    unsafe { if reads_many(stream) { u64::try_from(position(stream)).ok() } else { None } }
}

/// As [`reads_input`], for functions that take several bytes. They do not know what was put back.
unsafe fn reads_many(stream: *mut Stream) -> bool {
    unsafe {
        let input = reads_input(stream);
        if input && core::mem::take(&mut (*known(stream)).pushed) != 0 {
            give_up_outside();
        }
        input
    }
}

/// A library function moved the stream on.
pub(super) unsafe fn note_position(stream: *mut Stream) {
    unsafe {
        guarded(|| {
            let end = file_position(stream);
            label_buffer(stream, end);
            (*known(stream)).next = position_before(stream, end);
        });
    }
}

/// The input byte that a wide stream delivers next: its buffer is ahead of what the program has
/// seen, so it is counted.
pub(super) unsafe fn next_of_wide(stream: *mut Stream) -> Option<*mut i64> {
    unsafe {
        if !reads_input(stream) {
            return None;
        }
        let known = known(stream);
        if (*known).next < 0 {
            (*known).next = position(stream);
        }
        Some(&raw mut (*known).next)
    }
}

/// The label of a byte that the stream delivered, and its events; the guard is held.
unsafe fn delivered(stream: *mut Stream, result: c_int) -> Label {
    unsafe {
        let known = known(stream);
        if result < 0 {
            let at = position(stream);
            (*known).next = at;
            ask_byte(at.max(0) as u64);
            return 0;
        }
        let at = (*stream).read_ptr.sub(1);
        if (*known).pushed != 0 {
            (*known).pushed -= 1;
            return build::zext(8, 32, byte(at));
        }
        let label = expected_label(stream, known, at);
        ask_byte((*known).next.max(0) as u64);
        (*known).next += 1;
        build::zext(8, 32, byte(at).with_label(label))
    }
}

/// The label of the byte at `at` of the buffer, which gets its labels where they are not those that
/// come next.
unsafe fn expected_label(stream: *mut Stream, known: *mut Known, at: *const u8) -> Label {
    unsafe {
        let fresh = (*known).next < 0 || at == (*stream).read_base;
        let label = shadow::label_of_byte(at as usize);
        if !fresh && label != 0 && label as i64 == (*known).next + 1 {
            return label;
        }
        let end = file_position(stream);
        label_buffer(stream, end);
        (*known).next = position_before(stream, end) - 1;
        shadow::label_of_byte(at as usize)
    }
}

/// `getc`
#[inline(always)]
pub(super) unsafe fn next_byte(
    real: unsafe extern "C" fn(*mut Stream) -> c_int,
    _: &Args,
    stream: *mut Stream,
) -> c_int {
    unsafe {
        let result = real(stream);
        let label = if reads_input(stream) { guarded(|| delivered(stream, result)) } else { None };
        answer(label.unwrap_or(0));
        result
    }
}

/// `__underflow`: fills the buffer without taking a byte.
pub(super) unsafe fn fill(_: &Args, stream: *mut Stream) -> c_int {
    unsafe {
        let result = real::__underflow(stream);
        answer(0);
        if reads_input(stream) {
            guarded(|| {
                let end = file_position(stream);
                label_buffer(stream, end);
                ask_byte(position_before(stream, end).max(0) as u64);
            });
        }
        result
    }
}

/// `ungetc`
pub(super) unsafe fn push_back(labels: &Args, pushed: c_int, stream: *mut Stream) -> c_int {
    unsafe {
        let (label, result) = (labels.label(0), real::ungetc(pushed, stream));
        answer(if result == pushed { label } else { 0 });
        if result >= 0 && reads_input(stream) {
            let pushed = Value::new(label, pushed as u32 as u64);
            guarded(|| put_back(stream, build::trunc(8, pushed)));
        }
        result
    }
}

/// A byte with this label was put back. It need not be the one that was there.
unsafe fn put_back(stream: *mut Stream, label: Label) {
    unsafe {
        let known = known(stream);
        if (*known).pushed == 0 && label != 0 && label as i64 == (*known).next {
            (*known).next -= 1;
            return;
        }
        if (*known).pushed == 0 {
            label_buffer(stream, file_position(stream));
        }
        shadow::set_entry((*stream).read_ptr as usize, label);
        (*known).pushed += 1;
    }
}

/// `fread`
pub(super) unsafe fn read_objects(
    _: &Args,
    to: *mut u8,
    size: usize,
    count: usize,
    stream: *mut Stream,
) -> usize {
    unsafe {
        let input = reads_many(stream);
        let before = if input { position(stream) } else { 0 };
        let result = real::fread(to, size, count, stream);
        answer(0);
        if !input || before < 0 {
            shadow::__tgi_clear(to as usize, (result * size).max(1));
            return result;
        }
        guarded(|| delivered_objects(to, size, count, stream, before));
        result
    }
}

/// Objects were delivered from byte `before` on, the last of them maybe in part.
unsafe fn delivered_objects(to: *mut u8, size: usize, count: usize, stream: *mut Stream, before: i64) {
    unsafe {
        let end = file_position(stream);
        let after = position_before(stream, end);
        let got = (after - before).max(0) as u64;
        label_input(to, before as u64, got as usize);
        label_buffer(stream, end);
        (*known(stream)).next = after;
        let label = ask_bytes(before as u64, size.wrapping_mul(count) as u64, got);
        answer(if size == 1 { label } else { 0 });
    }
}

/// The label of the length of a line in which the stretch begins or goes on. Whether the line fits
/// is a branch.
unsafe fn line_length(start: u64, limit: usize, delimiter: u8) -> Label {
    unsafe {
        let length = stretches::line_length(start, delimiter);
        let fits = limit == usize::MAX || branch_on(apply_to(Op::Ule, 64, length, limit as u64));
        if fits { length.label } else { 0 }
    }
}

/// A line that a stream delivered.
struct Line {
    to: *const u8,
    /// How many bytes of it came.
    got: usize,
    /// How many there was room for.
    limit: usize,
    delimiter: u8,
    /// The input byte at its start.
    before: i64,
}

/// Labels a line, with the guard held, and answers with its length.
unsafe fn delivered_line(line: &Line, stream: *mut Stream) {
    unsafe {
        let Line { got, limit, delimiter, .. } = *line;
        let before = line.before as u64;
        label_input(line.to, before, got);
        // SAFETY: the library has just written them.
        let text = Elements::new(line.to, got);
        let mut is_stretched = false;
        for i in 0..got {
            ask_byte(before + i as u64);
            let here = text.at(i);
            // Which bytes follow the stretch hangs on whether the line is cut.
            if !is_stretched && stretches::is_filler(here.label) {
                is_stretched = true;
                answer(line_length(before, limit, delimiter));
            }
            branch_on(is(here, delimiter));
        }
        let ended = got > 0 && text.get(got - 1) == delimiter;
        if !ended && got < limit {
            ask_byte(before + got as u64);
        }
        label_buffer(stream, file_position(stream));
        (*known(stream)).next = line.before + got as i64;
    }
}

/// Bytes that `fgets` wrote of the `size` that it could. A line ends at its first line feed, or
/// with the file.
unsafe fn written(to: *const u8, size: usize, stream: *mut Stream) -> usize {
    unsafe {
        if feof(stream) != 0 {
            return real::strlen(to) + 1;
        }
        let end = real::memchr(to, c_int::from(b'\n'), size - 1) as usize;
        if end == 0 { size } else { end - to as usize + 2 }
    }
}

/// `fgets`
pub(super) unsafe fn line(_: &Args, to: *mut u8, size: c_int, stream: *mut Stream) -> *mut u8 {
    unsafe {
        let before = if reads_many(stream) { position(stream) } else { -1 };
        let result = real::fgets(to, size, stream);
        answer(0);
        if before < 0 || size < 1 {
            if !result.is_null() {
                shadow::__tgi_clear(to as usize, written(to, size.max(1) as usize, stream));
            }
            return result;
        }
        let got = (position(stream) - before).max(0) as usize;
        if !result.is_null() {
            shadow::clear(to as usize + got, 1);
        }
        let line = Line { to, got, limit: size as usize - 1, delimiter: b'\n', before };
        guarded(|| delivered_line(&line, stream));
        answer(0);
        result
    }
}

/// `getdelim`
pub(super) unsafe fn allocated_line(
    _: &Args,
    line: *mut *mut u8,
    size: *mut usize,
    delimiter: c_int,
    stream: *mut Stream,
) -> isize {
    unsafe {
        let before = if reads_many(stream) { position(stream) } else { -1 };
        let old = (*line as usize, *size);
        let result = real::getdelim(line, size, delimiter, stream);
        answer(0);
        note_line_object(line, size, old);
        let to = *line;
        let Ok(got) = usize::try_from(result) else {
            if before >= 0 {
                guarded(|| ask_byte(before as u64));
            }
            return result;
        };
        if before < 0 {
            shadow::clear(to as usize, if got > 0 { got + 1 } else { 0 });
            return result;
        }
        shadow::clear(to as usize + got, 1);
        let line = Line { to, got, limit: usize::MAX, delimiter: delimiter as u8, before };
        guarded(|| delivered_line(&line, stream));
        result
    }
}

/// The library may have allocated another object for the line.
unsafe fn note_line_object(line: *mut *mut u8, size: *mut usize, old: (usize, usize)) {
    unsafe {
        shadow::clear(line as usize, 8);
        shadow::clear(size as usize, 8);
        let new = (*line as usize, *size);
        if new.0 != old.0 {
            objects::note_free(old.0);
        }
        if new != old {
            objects::note_allocation(new.0, Some(new.1));
        }
        guarded(|| stretches::note_allocation(new.0, stretches::ENOUGH));
    }
}

/// What a name leads to that the input has a say in is not known for other inputs.
unsafe fn note_name(path: *const u8) {
    unsafe {
        let is_symbolic = || shadow::any_label(path as usize, real::strlen(path) + 1);
        if active() && !path.is_null() && is_symbolic() {
            give_up_outside();
        }
    }
}

/// `fopen`
pub(super) unsafe fn open(_: &Args, path: *const u8, mode: *const u8) -> *mut Stream {
    unsafe {
        note_name(path);
        let stream = real::fopen(path, mode);
        forget_streams();
        outside::note_redirected(descriptor(stream));
        answer(0);
        stream
    }
}

/// `fdopen`
pub(super) unsafe fn open_descriptor(_: &Args, fd: c_int, mode: *const u8) -> *mut Stream {
    unsafe {
        let stream = real::fdopen(fd, mode);
        forget_streams();
        answer(0);
        stream
    }
}

/// `freopen`
pub(super) unsafe fn open_again(
    _: &Args,
    path: *const u8,
    mode: *const u8,
    stream: *mut Stream,
) -> *mut Stream {
    unsafe {
        note_name(path);
        outside::forget_stream(stream);
        let stream = real::freopen(path, mode, stream);
        forget_streams();
        outside::note_redirected(descriptor(stream));
        answer(0);
        stream
    }
}

/// `fclose`
pub(super) unsafe fn close(_: &Args, stream: *mut Stream) -> c_int {
    unsafe {
        forget_streams();
        outside::forget_stream(stream);
        outside::note_redirected(descriptor(stream));
        answer(0);
        real::fclose(stream)
    }
}

const SEEK_END: c_int = 2;

/// `fseek`
pub(super) unsafe fn seek(_: &Args, stream: *mut Stream, offset: c_long, whence: c_int) -> c_int {
    unsafe {
        outside::note_model();
        let result = real::fseek(stream, offset, whence);
        answer(0);
        if result == 0 && reads_input(stream) {
            (*known(stream)).note_move((whence == SEEK_END).then_some(offset));
        }
        result
    }
}

/// `rewind`
pub(super) unsafe fn rewind(_: &Args, stream: *mut Stream) {
    unsafe {
        outside::note_model();
        real::rewind(stream);
        if reads_input(stream) {
            (*known(stream)).note_move(None);
        }
    }
}

/// `ftell`: after a seek to the end, the place is an expression of the input's length.
pub(super) unsafe fn tell(_: &Args, stream: *mut Stream) -> c_long {
    unsafe {
        let result = real::ftell(stream);
        answer(0);
        if result >= 0
            && reads_input(stream)
            && let Some(offset) = (*known(stream)).from_end
        {
            guarded(|| answer_from_end(offset, result));
        }
        result
    }
}

/// `getw`: four bytes as an `int`.
pub(super) unsafe fn word(_: &Args, stream: *mut Stream) -> c_int {
    unsafe {
        let before = input_position(stream);
        let result = real::getw(stream);
        answer(0);
        let Some(before) = before else { return result };
        guarded(|| {
            let got = (position(stream) - before as i64).max(0) as u64;
            ask_bytes(before, 4, got);
            if got == 4 {
                label_input((&raw const result).cast(), before, 4);
                answer(element((&raw const result).cast(), 4).label);
                shadow::clear(&raw const result as usize, 4);
            }
        });
        note_position(stream);
        result
    }
}
