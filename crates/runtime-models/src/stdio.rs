//! Buffered input. The stream's buffer gets the labels of the input bytes in it, so that code which
//! reads the buffer itself (`getc_unlocked` as a macro) works like the functions do.

use super::element::Elements;
use super::input::{ask_bytes, label_input, note_before_runs, source_of};
use super::logic::{apply_to, branch_on, is};
use super::positions::{comes_to_end, fix_length};
use super::table::real;
use super::unfollowed::{fix_pointer, note_name};
use super::{answer, byte, element, give_up_outside, guarded};
use crate::outside::descriptors::{unwatch_stream, watch_stream};
use crate::outside::{note_model, output};
use crate::sources::Source;
use crate::state::models;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr::{from_ref, null};
use runtime_core::build::{self, Value};
use runtime_core::calls::Args;
use runtime_core::repetitions::allocations;
use runtime_core::state::{Run, active};
use runtime_core::{objects, os, repetitions, shadow};
use trace::{Label, Op};

/// The part of glibc's `FILE` that its own macros have always exposed. The library changes it.
#[repr(C)]
pub struct Stream {
    flags: Cell<c_int>,
    read_ptr: Cell<*mut u8>,
    read_end: Cell<*mut u8>,
    read_base: Cell<*mut u8>,
    write_base: Cell<*mut u8>,
    write_ptr: Cell<*mut u8>,
    write_end: Cell<*mut u8>,
    buf_base: Cell<*mut u8>,
    buf_end: Cell<*mut u8>,
    save_base: Cell<*mut u8>,
    backup_base: Cell<*mut u8>,
    save_end: Cell<*mut u8>,
    markers: Cell<*mut c_void>,
    chain: Cell<*mut c_void>,
    fileno: Cell<c_int>,
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

impl Stream {
    /// A stream that the program passes to the library; it is open, for the time of the call.
    fn of<'a>(stream: *mut Stream) -> Option<&'a Stream> {
        // SAFETY: the program's own stream, of which the library changes cells only.
        unsafe { stream.as_ref() }
    }

    fn has(&self, flag: c_int) -> bool {
        self.flags.get() & flag != 0
    }

    /// Offset in the file of what the stream reads from it next.
    fn file_position(&self) -> i64 {
        os::lseek(self.fileno.get(), 0, os::SEEK_CUR)
    }

    /// Offset in the file of the byte that the stream delivers next.
    pub(super) fn position(&self) -> i64 {
        self.position_before(self.file_position())
    }

    /// The same, if its buffer ends at `end` in the file.
    fn position_before(&self, end: i64) -> i64 {
        let mut ahead = self.read_end.get() as i64 - self.read_ptr.get() as i64;
        if self.has(IN_BACKUP) {
            ahead += self.save_end.get() as i64 - self.save_base.get() as i64;
        }
        end - ahead
    }
}

/// What is known of a stream.
pub(super) struct Known {
    /// It may be closed by now.
    stream: Cell<*const Stream>,
    /// What it delivers of the input, if it does.
    source: Cell<Option<Source>>,
    /// Byte of the source that the stream delivers next, as far as models were used; -1 if not known.
    next: Cell<i64>,
    /// Bytes that were put back and are not those of the input that were there.
    pushed: Cell<u32>,
    /// Where it stands hangs on where the input ends: it got there, or went to a place from there.
    pub(super) from_end: Cell<bool>,
    fd: Cell<c_int>,
    /// The buffer that has its labels: its start, its size, and where it ends in the file.
    labelled: Cell<(usize, usize, i64)>,
}

impl Known {
    const NOTHING: Known = Known {
        stream: Cell::new(null()),
        source: Cell::new(None),
        next: Cell::new(-1),
        pushed: Cell::new(0),
        from_end: Cell::new(false),
        fd: Cell::new(-1),
        labelled: Cell::new((0, 0, 0)),
    };

    /// Of a stream, or null, and its descriptor.
    fn begin(&self, stream: *const Stream, fd: c_int, source: Option<Source>) {
        self.stream.set(stream);
        self.fd.set(fd);
        self.source.set(source);
        self.note_move(false);
    }

    /// The stream was moved: to a place that hangs on where the input ends, or another.
    pub(super) fn note_move(&self, from_end: bool) {
        self.next.set(-1);
        self.pushed.set(0);
        self.from_end.set(from_end);
        self.labelled.set((0, 0, 0));
    }
}

const MAX_KNOWN: usize = 4;

/// The streams used last.
pub(crate) struct Streams {
    known: [Known; MAX_KNOWN],
    next: Cell<usize>,
}

impl Streams {
    pub const NONE: Streams =
        Streams { known: [const { Known::NOTHING }; MAX_KNOWN], next: Cell::new(0) };

    /// A run ends.
    pub fn reset(&self) {
        self.forget();
        self.next.set(0);
    }

    /// Which streams read the input is to be found out anew.
    fn forget(&self) {
        self.known.iter().for_each(|known| known.begin(null(), -1, None));
    }

    /// Whether one is known that reads the input from the descriptor.
    pub fn read_from(&self, fd: c_int) -> bool {
        self.known.iter().any(|known| known.source.get().is_some() && known.fd.get() == fd)
    }

    #[inline(never)]
    fn find(&self, run: &Run, stream: &Stream) -> &Known {
        if let Some(known) = self.known.iter().find(|known| known.stream.get() == from_ref(stream))
        {
            return known;
        }
        let known = &self.known[self.next.get() % MAX_KNOWN];
        self.next.update(|next| next.wrapping_add(1));
        let fd = stream.fileno.get();
        let source = source_of(run, fd);
        known.begin(stream, fd, source);
        if source.is_some() {
            // SAFETY: the program uses the stream, and models tell when it is closed.
            unsafe { watch_stream(fd, from_ref(stream).cast_mut()) };
        }
        known
    }
}

#[inline(always)]
pub(super) fn known(run: &Run, stream: &Stream) -> &'static Known {
    let streams = &models().streams;
    let first = &streams.known[0];
    if first.stream.get() == from_ref(stream) { first } else { streams.find(run, stream) }
}

/// The stream and what it delivers of the input, if it does.
#[inline(always)]
pub(super) fn reading_input<'a>(run: &Run, stream: *mut Stream) -> Option<(&'a Stream, Source)> {
    let stream = Stream::of(stream)?;
    if !active(run) {
        note_before_runs(run, stream.fileno.get());
        return None;
    }
    if let Some(source) = known(run, stream).source.get() {
        note_model();
        return Some((stream, source));
    }
    output::note_other_data(run);
    None
}

/// The descriptor of a stream; -1 if it has none, as one that prints into memory.
///
/// # Safety
/// The stream is open, or null.
pub(crate) unsafe fn descriptor(stream: *mut Stream) -> c_int {
    // SAFETY: the caller's promise.
    let stream = unsafe { stream.as_ref() };
    stream.filter(|stream| stream.has(IS_FILE)).map_or(-1, |stream| stream.fileno.get())
}

/// Offset in the file of the byte that the stream delivers next, if its buffer ends at `end`.
///
/// # Safety
/// The stream is open.
pub(crate) unsafe fn position_before(stream: *mut Stream, end: i64) -> i64 {
    // SAFETY: the caller's promise.
    unsafe { &*stream }.position_before(end)
}

/// Labels the whole buffer, which ends at `end` in the file, unless it has its labels: a line takes
/// a small part of it.
fn label_buffer(run: &Run, source: Source, stream: &Stream, end: i64) {
    if stream.has(IN_BACKUP) {
        return;
    }
    let base = stream.read_base.get();
    let size = (stream.read_end.get() as usize).saturating_sub(base as usize);
    let here = (base as usize, size, end);
    if known(run, stream).labelled.replace(here) != here && end >= size as i64 {
        label_input(run, source, base, (end - size as i64) as u64, size);
    }
}

/// What the stream delivers of the input, and the byte of it that comes next.
pub(super) fn input_position(run: &Run, stream: *mut Stream) -> Option<(Source, u64)> {
    let (stream, source) = reading_many(run, stream)?;
    Some((source, u64::try_from(stream.position()).ok()?))
}

/// As [`reading_input`], for functions that take several bytes. They do not know what was put back.
fn reading_many<'a>(run: &Run, stream: *mut Stream) -> Option<(&'a Stream, Source)> {
    let (stream, source) = reading_input(run, stream)?;
    let known = known(run, stream);
    if known.pushed.take() != 0 {
        give_up_outside();
    }
    if known.from_end.get() && stream.position() < source.len(run) as i64 {
        guarded(|run| fix_length(run, source));
    }
    Some((stream, source))
}

/// A library function moved a stream on that reads the input.
pub(super) fn note_position(source: Source, stream: *mut Stream) {
    let Some(stream) = Stream::of(stream) else { return };
    guarded(|run| {
        let end = stream.file_position();
        label_buffer(run, source, stream, end);
        known(run, stream).next.set(stream.position_before(end));
    });
}

/// The input byte that a wide stream delivers next: its buffer is ahead of what the program has
/// seen, so it is counted.
pub(super) fn next_of_wide(run: &Run, stream: *mut Stream) -> Option<(Source, &'static Cell<i64>)> {
    let (stream, source) = reading_input(run, stream)?;
    let next = &known(run, stream).next;
    if next.get() < 0 {
        next.set(stream.position());
    }
    Some((source, next))
}

/// The label of a byte that the stream delivered, and its events; the guard is held.
fn delivered(run: &Run, (stream, source): (&Stream, Source), result: c_int) -> Label {
    let known = known(run, stream);
    if result < 0 {
        let at = stream.position();
        known.next.set(at);
        source.ask_byte(run, at.max(0) as u64);
        return 0;
    }
    if known.from_end.get() {
        fix_length(run, source);
    }
    let at = stream.read_ptr.get().wrapping_sub(1);
    if known.pushed.get() != 0 {
        known.pushed.update(|pushed| pushed - 1);
        return build::zext(run, 8, 32, byte(run, at));
    }
    let label = expected_label(run, (stream, source), known, at);
    let next = known.next.get();
    source.ask_byte(run, next.max(0) as u64);
    known.next.set(next + 1);
    build::zext(run, 8, 32, byte(run, at).with_label(label))
}

/// The label of the byte at `at` of the buffer, which gets its labels where they are not those that
/// come next.
fn expected_label(
    run: &Run,
    (stream, source): (&Stream, Source),
    known: &Known,
    at: *mut u8,
) -> Label {
    let next = known.next.get();
    let is_fresh = next < 0 || at == stream.read_base.get();
    let label = shadow::label_of_byte(run, at as usize);
    if !is_fresh && label != 0 && label == source.label(run, next as u64) {
        return label;
    }
    let end = stream.file_position();
    label_buffer(run, source, stream, end);
    known.next.set(stream.position_before(end) - 1);
    shadow::label_of_byte(run, at as usize)
}

/// `getc`
#[inline(always)]
pub(super) fn next_byte(
    run: &Run,
    real: unsafe extern "C" fn(*mut Stream) -> c_int,
    _: &Args,
    stream: *mut Stream,
) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real(stream) };
    let label = match reading_input(run, stream) {
        Some(reading) => guarded(|run| delivered(run, reading, result)),
        None => None,
    };
    answer(label.unwrap_or(0));
    result
}

/// `__underflow`: fills the buffer without taking a byte.
pub(super) fn fill(run: &Run, _: &Args, stream: *mut Stream) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real::__underflow(stream) };
    answer(0);
    if let Some((stream, source)) = reading_input(run, stream) {
        guarded(|run| {
            let end = stream.file_position();
            label_buffer(run, source, stream, end);
            source.ask_byte(run, stream.position_before(end).max(0) as u64);
        });
    }
    result
}

/// `ungetc`
pub(super) fn push_back(run: &Run, labels: &Args, pushed: c_int, stream: *mut Stream) -> c_int {
    // SAFETY: the program's own call.
    let (label, result) = (labels.label(0), unsafe { real::ungetc(pushed, stream) });
    answer(if result == pushed { label } else { 0 });
    if result >= 0
        && let Some(reading) = reading_input(run, stream)
    {
        let pushed = Value::new(label, pushed as u32 as u64);
        guarded(|run| put_back(run, reading, build::trunc(run, 8, pushed)));
    }
    result
}

/// A byte with this label was put back. It need not be the one that was there.
fn put_back(run: &Run, (stream, source): (&Stream, Source), label: Label) {
    let known = known(run, stream);
    if known.pushed.get() == 0 {
        let before = known.next.get() - 1;
        if label != 0 && before >= 0 && label == source.label(run, before as u64) {
            known.next.set(before);
            return;
        }
        label_buffer(run, source, stream, stream.file_position());
    }
    shadow::set_entry(run, stream.read_ptr.get() as usize, label);
    known.pushed.update(|pushed| pushed + 1);
}

/// `fread`
pub(super) fn read_objects(
    run: &Run,
    _: &Args,
    to: *mut u8,
    size: usize,
    count: usize,
    stream: *mut Stream,
) -> usize {
    let input = reading_many(run, stream);
    let before = input.map_or(-1, |(stream, _)| stream.position());
    // SAFETY: the program's own call.
    let result = unsafe { real::fread(to, size, count, stream) };
    answer(0);
    match input.zip(u64::try_from(before).ok()) {
        Some((reading, before)) => {
            let objects = Objects { to, size, count, before };
            guarded(|run| delivered_objects(run, &objects, reading));
        }
        None => shadow::__tgi_clear(to as usize, (result * size).max(1)),
    }
    result
}

/// Objects that were asked for.
struct Objects {
    to: *const u8,
    size: usize,
    count: usize,
    /// The input byte at their start.
    before: u64,
}

/// Objects were delivered, the last of them maybe in part; the guard is held.
fn delivered_objects(run: &Run, objects: &Objects, (stream, source): (&Stream, Source)) {
    let Objects { to, size, count, before } = *objects;
    let end = stream.file_position();
    let after = stream.position_before(end);
    let got = (after - before as i64).max(0) as u64;
    label_input(run, source, to, before, got as usize);
    label_buffer(run, source, stream, end);
    let wanted = size.wrapping_mul(count) as u64;
    note_read(run, (stream, source), after, wanted, got);
    let label = ask_bytes(run, source, before, wanted, got);
    let whole = |bytes: Value| apply_to(run, Op::UDiv, 64, bytes, size as u64).label;
    answer(if label == 0 { 0 } else { whole(Value::new(label, got)) });
}

/// The stream stands after `got` bytes of those that were wanted.
fn note_read(run: &Run, (stream, source): (&Stream, Source), after: i64, wanted: u64, got: u64) {
    let known = known(run, stream);
    known.next.set(after);
    if comes_to_end(run, source, after as u64, wanted, got) {
        known.from_end.set(true);
    }
}

/// The label of the length of a line in which the repetition begins or goes on. Whether the line
/// fits is a branch.
fn line_length(run: &Run, start: u64, limit: usize, delimiter: u8) -> Label {
    let length = repetitions::line_length(run, start, delimiter);
    let fits = || branch_on(run, apply_to(run, Op::Ule, 64, length, limit as u64));
    if limit == usize::MAX || fits() { length.label } else { 0 }
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
    before: u64,
}

/// Labels a line, with the guard held, and answers with its length.
fn delivered_line(run: &Run, line: &Line, (stream, source): (&Stream, Source)) {
    let Line { to, got, limit, delimiter, before } = *line;
    label_input(run, source, to, before, got);
    // The library has just written them.
    let text = Elements::new(to, got);
    let mut is_repeated = false;
    for i in 0..got {
        source.ask_byte(run, before + i as u64);
        let here = text.at(run, i);
        // Which bytes follow the repetition hangs on whether the line is cut.
        if !is_repeated && repetitions::is_filler(run, here.label) {
            is_repeated = true;
            answer(line_length(run, before, limit, delimiter));
        }
        branch_on(run, is(run, here, delimiter));
    }
    let ended = got > 0 && text.get(got - 1) == delimiter;
    if !ended && got < limit {
        source.ask_byte(run, before + got as u64);
    }
    label_buffer(run, source, stream, stream.file_position());
    known(run, stream).next.set((before + got as u64) as i64);
}

/// Bytes that `fgets` has just written of the `size` that it could. A line ends at its first line
/// feed, or with the file.
fn written(to: *const u8, size: usize, stream: *mut Stream) -> usize {
    // SAFETY: the program has just used the stream.
    if unsafe { feof(stream) } != 0 {
        // SAFETY: `fgets` has ended the line with a 0.
        return unsafe { real::strlen(to) } + 1;
    }
    // SAFETY: a line that is shorter ends with a line feed.
    let end = unsafe { real::memchr(to, c_int::from(b'\n'), size - 1) } as usize;
    if end == 0 { size } else { end - to as usize + 2 }
}

/// `fgets`
pub(super) fn line(run: &Run, _: &Args, to: *mut u8, size: c_int, stream: *mut Stream) -> *mut u8 {
    let input = reading_many(run, stream);
    let before = input.map_or(-1, |(stream, _)| stream.position());
    // SAFETY: the program's own call.
    let result = unsafe { real::fgets(to, size, stream) };
    answer(0);
    let limit = usize::try_from(i64::from(size) - 1);
    let (Some(input), Ok(before), Ok(limit)) = (input, u64::try_from(before), limit) else {
        if !result.is_null() {
            shadow::__tgi_clear(to as usize, written(to, size.max(1) as usize, stream));
        }
        return result;
    };
    let got = (input.0.position() - before as i64).max(0) as usize;
    if !result.is_null() {
        shadow::clear(to as usize + got, 1);
    }
    let line = Line { to, got, limit, delimiter: b'\n', before };
    guarded(|run| delivered_line(run, &line, input));
    answer(0);
    result
}

/// Address and size of a line's object, where the library keeps them.
fn line_object(line: *mut *mut u8, size: *mut usize) -> (usize, usize) {
    // SAFETY: the program passes both places to the library, which uses them.
    unsafe { (line.read() as usize, size.read()) }
}

/// `getdelim`
pub(super) fn allocated_line(
    run: &Run,
    _: &Args,
    line: *mut *mut u8,
    size: *mut usize,
    delimiter: c_int,
    stream: *mut Stream,
) -> isize {
    let input = reading_many(run, stream);
    let before = input.and_then(|(stream, _)| u64::try_from(stream.position()).ok());
    fix_pointer(run, line);
    fix_pointer(run, size);
    let old = line_object(line, size);
    // SAFETY: the program's own call.
    let result = unsafe { real::getdelim(line, size, delimiter, stream) };
    answer(0);
    let new = line_object(line, size);
    shadow::clear(line as usize, 8);
    shadow::clear(size as usize, 8);
    note_line_object(run, old, new);
    let (to, input) = (new.0 as *const u8, input.zip(before));
    match (usize::try_from(result), input) {
        (Ok(got), Some((reading, before))) => {
            shadow::clear(to as usize + got, 1);
            let delimiter = delimiter as u8;
            let line = Line { to, got, limit: usize::MAX, delimiter, before };
            guarded(|run| delivered_line(run, &line, reading));
        }
        (Ok(got), None) => shadow::clear(to as usize, if got > 0 { got + 1 } else { 0 }),
        (Err(_), Some(((_, source), before))) => {
            guarded(|run| source.ask_byte(run, before));
        }
        (Err(_), None) => {}
    }
    result
}

/// The library may have allocated another object for the line.
fn note_line_object(run: &Run, old: (usize, usize), new: (usize, usize)) {
    if new.0 != old.0 {
        objects::note_free(old.0);
    }
    if new != old {
        objects::note_allocation(run, new.0, Some(new.1));
    }
    guarded(|run| allocations::note_allocation(run, new.0, allocations::ENOUGH));
}

/// The library has opened a stream, or failed with null.
fn note_opened(stream: *mut Stream) {
    models().streams.forget();
    // SAFETY: the library has just opened it.
    output::note_redirected(unsafe { descriptor(stream) });
    answer(0);
}

/// `fopen`
pub(super) fn open(run: &Run, _: &Args, path: *const u8, mode: *const u8) -> *mut Stream {
    note_name(run, path);
    note_name(run, mode);
    // SAFETY: the program's own call.
    let stream = unsafe { real::fopen(path, mode) };
    note_opened(stream);
    stream
}

/// `fdopen`
pub(super) fn open_descriptor(run: &Run, _: &Args, fd: c_int, mode: *const u8) -> *mut Stream {
    note_name(run, mode);
    // SAFETY: the program's own call.
    let stream = unsafe { real::fdopen(fd, mode) };
    models().streams.forget();
    answer(0);
    stream
}

/// `freopen`
pub(super) fn open_again(
    run: &Run,
    _: &Args,
    path: *const u8,
    mode: *const u8,
    stream: *mut Stream,
) -> *mut Stream {
    note_name(run, path);
    note_name(run, mode);
    unwatch_stream(stream);
    // SAFETY: the program's own call.
    let stream = unsafe { real::freopen(path, mode, stream) };
    note_opened(stream);
    stream
}

/// `fclose`
pub(super) fn close(_: &Run, _: &Args, stream: *mut Stream) -> c_int {
    models().streams.forget();
    unwatch_stream(stream);
    // SAFETY: the program passes the stream to the library, so it is open still.
    output::note_redirected(unsafe { descriptor(stream) });
    answer(0);
    // SAFETY: the program's own call.
    unsafe { real::fclose(stream) }
}

/// `getw`: four bytes as an `int`.
pub(super) fn word(run: &Run, _: &Args, stream: *mut Stream) -> c_int {
    let input = reading_many(run, stream);
    let before = input.and_then(|(stream, _)| u64::try_from(stream.position()).ok());
    // SAFETY: the program's own call.
    let result = unsafe { real::getw(stream) };
    answer(0);
    let Some((input, before)) = input.zip(before) else { return result };
    guarded(|run| {
        let (stream, source) = input;
        let after = stream.position();
        let got = (after - before as i64).max(0) as u64;
        note_read(run, input, after, 4, got);
        ask_bytes(run, source, before, 4, got);
        if got == 4 {
            let place = (&raw const result).cast();
            label_input(run, source, place, before, 4);
            answer(element(run, place, 4).label);
            shadow::clear(place as usize, 4);
        }
    });
    note_position(input.1, stream);
    result
}
