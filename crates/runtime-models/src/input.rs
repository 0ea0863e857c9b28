//! Where bytes of the input enter: the `read` family and mapped files; and where its length is
//! asked for.

use super::positions::note_position;
use super::table::real;
use super::unfollowed::{fix_numbers, note_name};
use super::{answer, call_site, guarded, set_label};
use crate::outside::descriptors::watch;
use crate::outside::{note_model, output};
use crate::sources::Source;
use crate::state::models;
use core::ffi::{c_char, c_int};
use runtime_core::build::{self, Value};
use runtime_core::calls::Args;
use runtime_core::state::{Run, active};
use runtime_core::{events, os, shadow};
use runtime_process::sys::Stat;
use trace::{Label, Op};

const PROT_WRITE: c_int = 2;
const MAP_SHARED: c_int = 1;
const MAP_ANONYMOUS: c_int = 0x20;
const MAP_FAILED: usize = usize::MAX;

/// Called by the program's sockets: data from this descriptor is the input.
#[unsafe(no_mangle)]
pub extern "C" fn __tarragon_connected(fd: c_int) {
    models().connection.set(os::file_identity(fd));
    watch(fd);
}

pub fn is_connected() -> bool {
    models().connection.get().is_some()
}

/// Device and inode of the input's file; `None` without Tarragon.
fn input_identity(run: &Run) -> Option<(u64, u64)> {
    let header = run.segment.header();
    // SAFETY: an attached header stays mapped, and these do not change while the run goes on.
    run.segment.is_attached().then(|| unsafe { ((*header).input_device, (*header).input_inode) })
}

/// No run has begun yet: constructors read what no run sees.
#[inline(always)]
pub(crate) fn note_before_runs(run: &Run, fd: c_int) {
    if !run.concrete.get() && !run.segment.is_attached() {
        note_read_before(fd);
    }
}

/// Standard input is remembered, or else the first file: that may be the input's.
#[cold]
fn note_read_before(fd: c_int) {
    let before = &models().read_before;
    if fd == 0 || before.get().is_none() {
        before.set(os::file_identity(fd));
    }
}

/// Whether a model read the input before the first run began.
pub(crate) fn was_read_before(run: &Run) -> bool {
    let before = models().read_before.get();
    before.is_some() && before == input_identity(run)
}

/// What the descriptor delivers of the input, if it is open on a file of its or connected to it.
pub(crate) fn source_of(run: &Run, fd: c_int) -> Option<Source> {
    if !active(run) {
        note_before_runs(run, fd);
        return None;
    }
    let source = given_by(run, fd)?;
    note_model();
    watch(fd);
    Some(source)
}

/// The same, also in runs in which nothing is symbolic.
pub(crate) fn given_by(run: &Run, fd: c_int) -> Option<Source> {
    delivered_by(run, os::file_identity(fd)?)
}

/// What the file or socket with this device and inode delivers of the input.
fn delivered_by(run: &Run, identity: (u64, u64)) -> Option<Source> {
    let input = input_identity(run)?;
    let is_whole = identity == input || Some(identity) == models().connection.get();
    if is_whole { Some(Source::WHOLE) } else { models().sources.with_identity(identity) }
}

/// What the file at the path delivers of the input.
///
/// # Safety
/// The kernel may read a path there; if there is no memory, it fails.
pub(crate) unsafe fn named(run: &Run, path: *const c_char) -> Option<Source> {
    let mut found = Stat::default();
    // SAFETY: the caller's promise, and `Stat` is what the library fills.
    let is_there = unsafe { real::stat(path.cast(), &raw mut found) } == 0;
    is_there.then(|| delivered_by(run, (found.device, found.inode))).flatten()
}

/// Gives memory that was filled from the source's byte `offset` on the labels of those bytes.
pub(crate) fn label_input(run: &Run, source: Source, at: *const u8, offset: u64, size: usize) {
    for i in 0..size {
        let label = source.label(run, offset.saturating_add(i as u64));
        shadow::set_entry(run, at as usize + i, label);
    }
}

/// Bytes `offset .. offset + wanted` were asked for at once and `got` came. Returns the label of
/// `got`.
pub(crate) fn ask_bytes(run: &Run, source: Source, offset: u64, wanted: u64, got: u64) -> Label {
    if is_message(run, source, offset, wanted, got) {
        source.ask_byte(run, offset + got);
        return 0;
    }
    if got == 0 && source.is_at_end() {
        return 0;
    }
    let len = source.length(run);
    let start = source.position(run, offset);
    let end = build::binary(run, Op::Add, 64, start, Value::concrete(wanted));
    let end = Value::new(end, offset.saturating_add(wanted));
    let short = build::binary(run, Op::Ult, 64, len, end);
    events::branch(run, short, got < wanted, call_site());
    if got == wanted || offset.saturating_add(got) != source.len(run) {
        return 0;
    }
    source.ask_byte(run, offset);
    if got == 0 {
        return 0;
    }
    source.reach_end();
    build::binary(run, Op::Sub, 64, len, start)
}

/// Whether a read ended with a message before the bytes that were wanted, and more follow.
fn is_message(run: &Run, source: Source, offset: u64, wanted: u64, got: u64) -> bool {
    got < wanted && source != Source::WHOLE && offset.saturating_add(got) < source.len(run)
}

/// Where a descriptor stands; negative if it has no position.
pub(super) fn position(fd: c_int) -> i64 {
    let place = os::errno();
    // SAFETY: the C library keeps the variable as long as this thread runs.
    let errno = unsafe { place.read() };
    let position = os::lseek(fd, 0, os::SEEK_CUR);
    // SAFETY: as above.
    unsafe { place.write(errno) };
    position
}

/// Offset in the source of the `got` bytes that were just read.
pub(super) fn offset_before(source: Source, fd: c_int, got: isize, stays: bool) -> u64 {
    let got = got.max(0) as u64;
    match u64::try_from(position(fd)) {
        Ok(position) => position.saturating_sub(got),
        Err(_) => source.receive(got, stays),
    }
}

/// `got` of the bytes that were wanted on from `offset` of the source came.
fn note_read(source: Source, to: *mut u8, offset: u64, wanted: usize, got: isize) {
    let Ok(got) = usize::try_from(got) else { return };
    guarded(|run| {
        // Of a datagram more may have come than there is room.
        label_input(run, source, to, offset, got.min(wanted));
        answer(ask_bytes(run, source, offset, wanted as u64, got as u64));
    });
}

/// Data that comes from elsewhere is concrete.
fn note_other(run: &Run, to: *mut u8, got: isize) {
    output::note_other_data(run);
    if got > 0 {
        shadow::__tgi_clear(to as usize, got as usize);
    }
}

/// `got` of `size` bytes were read from the descriptor's own position, which `stays` where it was
/// after a peek.
pub(super) fn note_sequential(
    run: &Run,
    fd: c_int,
    to: *mut u8,
    size: usize,
    got: isize,
    stays: bool,
) {
    answer(0);
    if let Some(source) = source_of(run, fd) {
        let offset = offset_before(source, fd, got, stays);
        let count = got.max(0) as u64;
        note_position(run, (source, fd), offset + count, size as u64, count);
        note_read(source, to, offset, size, got);
    } else {
        note_other(run, to, got);
    }
}

/// `read`
pub(super) fn sequential(run: &Run, _: &Args, fd: c_int, to: *mut u8, size: usize) -> isize {
    // SAFETY: the program's own call.
    let got = unsafe { real::read(fd, to, size) };
    note_sequential(run, fd, to, size, got, false);
    got
}

/// `pread`
pub(super) fn at_offset(
    run: &Run,
    _: &Args,
    fd: c_int,
    to: *mut u8,
    size: usize,
    offset: i64,
) -> isize {
    // SAFETY: the program's own call.
    let got = unsafe { os::read_at(fd, to.cast(), size, offset) };
    answer(0);
    if let Some(source) = source_of(run, fd) {
        note_read(source, to, offset.max(0) as u64, size, got);
    } else {
        note_other(run, to, got);
    }
    got
}

/// `struct iovec`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Piece {
    start: *mut u8,
    size: usize,
}

/// Where the pieces are and how large is fixed before they are filled.
pub(super) fn fix_pieces(run: &Run, pieces: *const Piece, count: c_int) {
    const MOST: c_int = 1024;
    fix_numbers(run, pieces, count.clamp(0, MOST) as usize * 2, size_of::<usize>());
}

/// `got` bytes were spread over the pieces; `from` is the source of the first and its offset there,
/// if they are of the input.
pub(super) fn note_pieces(
    run: &Run,
    pieces: *const Piece,
    count: c_int,
    from: Option<(Source, u64)>,
    got: isize,
) {
    answer(0);
    let Ok(got) = u64::try_from(got) else { return };
    if from.is_none() {
        output::note_other_data(run);
    }
    guarded(|run| {
        label_pieces(run, pieces, count, from, got);
        if let Some((source, offset)) = from {
            answer(ask_bytes(run, source, offset, wanted_by(pieces, count), got));
        }
    });
}

/// Labels what `got` bytes filled.
fn label_pieces(
    run: &Run,
    pieces: *const Piece,
    count: c_int,
    from: Option<(Source, u64)>,
    got: u64,
) {
    let mut done = 0u64;
    for i in 0..count.max(0) as usize {
        // SAFETY: the library has just read so many of them.
        let Piece { start, size } = unsafe { pieces.add(i).read() };
        let here = (size as u64).min(got - done) as usize;
        match from {
            Some((source, offset)) => label_input(run, source, start, offset + done, here),
            None => shadow::clear(start as usize, here),
        }
        done += here as u64;
    }
}

/// How much there is to fill.
pub(super) fn wanted_by(pieces: *const Piece, count: c_int) -> u64 {
    let pieces = (0..count.max(0) as usize).map(|i| {
        // SAFETY: the library has just read so many of them.
        unsafe { pieces.add(i).read() }
    });
    pieces.fold(0, |wanted, piece| wanted.saturating_add(piece.size as u64))
}

/// `readv`
pub(super) fn pieces(run: &Run, _: &Args, fd: c_int, pieces: *const Piece, count: c_int) -> isize {
    fix_pieces(run, pieces, count);
    // SAFETY: the program's own call.
    let got = unsafe { real::readv(fd, pieces, count) };
    let source = source_of(run, fd);
    let from = source.map(|source| (source, offset_before(source, fd, got, false)));
    if let Some((source, offset)) = from
        && got >= 0
    {
        let wanted = wanted_by(pieces, count);
        note_position(run, (source, fd), offset + got as u64, wanted, got as u64);
    }
    note_pieces(run, pieces, count, from, got);
    got
}

/// `preadv`
pub(super) fn pieces_at_offset(
    run: &Run,
    _: &Args,
    fd: c_int,
    pieces: *const Piece,
    count: c_int,
    offset: i64,
) -> isize {
    fix_pieces(run, pieces, count);
    // SAFETY: the program's own call.
    let got = unsafe { real::preadv(fd, pieces, count, offset) };
    let from = source_of(run, fd).map(|source| (source, offset.max(0) as u64));
    note_pieces(run, pieces, count, from, got);
    got
}

/// `mmap`
#[allow(clippy::too_many_arguments, reason = "those of the library's function")]
pub(super) fn mapped(
    run: &Run,
    _: &Args,
    at: *mut u8,
    size: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut u8 {
    // SAFETY: the program's own call.
    let result = unsafe { os::map_file(at.cast(), size, protection, flags, fd, offset) };
    let result = result.cast::<u8>();
    answer(0);
    if !active(run) || result as usize == MAP_FAILED {
        return result;
    }
    shadow::clear(result as usize, size);
    if flags & MAP_SHARED != 0 && protection & PROT_WRITE != 0 {
        output::note_common_memory();
    }
    if flags & MAP_ANONYMOUS != 0 {
        return result;
    }
    if let Some(source) = source_of(run, fd) {
        label_mapping(source, result, size, offset.max(0) as u64);
    } else {
        output::note_other_data(run);
        if flags & MAP_SHARED != 0 && protection & PROT_WRITE != 0 {
            output::note_shared_memory();
        }
    }
    result
}

/// A file of the input was mapped on from `offset`.
fn label_mapping(source: Source, at: *mut u8, size: usize, offset: u64) {
    guarded(|run| {
        let there = source.len(run).saturating_sub(offset).min(size as u64);
        label_input(run, source, at, offset, there as usize);
        ask_bytes(run, source, offset, size as u64, there);
    });
}

/// `munmap`
pub(super) fn unmapped(run: &Run, _: &Args, at: *mut u8, size: usize) -> c_int {
    answer(0);
    if active(run) {
        shadow::clear(at as usize, size);
    }
    // SAFETY: the program's own call.
    unsafe { real::munmap(at, size) }
}

/// `close`
pub(super) fn closed(_: &Run, _: &Args, fd: c_int) -> c_int {
    answer(0);
    output::note_redirected(fd);
    if models().at_end.get() == Some(fd) {
        models().at_end.set(None);
    }
    // SAFETY: the program's own call.
    unsafe { real::close(fd) }
}

/// `fstat`: the size of a file of the input is the length of what it delivers.
pub(super) fn status(run: &Run, _: &Args, fd: c_int, stat: *mut Stat) -> c_int {
    // SAFETY: the program's own call.
    let result = unsafe { real::fstat(fd, stat) };
    with_status(run, stat, result)
}

/// `stat` and `lstat`
pub(super) fn status_of(
    run: &Run,
    real: unsafe extern "C" fn(*const u8, *mut Stat) -> c_int,
    _: &Args,
    path: *const u8,
    stat: *mut Stat,
) -> c_int {
    note_name(run, path);
    // SAFETY: the program's own call.
    let result = unsafe { real(path, stat) };
    with_status(run, stat, result)
}

/// `fstatat`
pub(super) fn status_in(
    run: &Run,
    _: &Args,
    folder: c_int,
    path: *const u8,
    stat: *mut Stat,
    flags: c_int,
) -> c_int {
    note_name(run, path);
    // SAFETY: the program's own call.
    let result = unsafe { real::fstatat(folder, path, stat, flags) };
    with_status(run, stat, result)
}

fn with_status(run: &Run, stat: *mut Stat, result: c_int) -> c_int {
    answer(0);
    if result == 0 && active(run) {
        note_status(run, stat);
    }
    result
}

/// The library has filled `stat`.
fn note_status(run: &Run, stat: *mut Stat) {
    shadow::clear(stat as usize, size_of::<Stat>());
    // SAFETY: the library has just filled it.
    let Stat { device, inode, size, .. } = unsafe { stat.read() };
    match delivered_by(run, (device, inode)) {
        None => output::note_other_data(run),
        Some(source) if size == source.len(run) as i64 => {
            let place = stat.cast::<u8>().wrapping_add(core::mem::offset_of!(Stat, size));
            guarded(|run| set_label(run, place, source.length(run).label, 8));
        }
        Some(_) => {}
    }
}
