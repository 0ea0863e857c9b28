//! Where bytes of the input enter: the `read` family and mapped files; and where its length is
//! asked for.

use super::state::MODEL_STATE;
use super::table::real;
use super::{answer, call_site, guarded, set_label};
use crate::build::{self, Value};
use crate::calls::Args;
use crate::state::{STATE, active};
use crate::sys::Stat;
use crate::{events, lengths, nodes, os, outside, shadow, stretches};
use core::ffi::{c_char, c_int};
use trace::{Label, Op};

const PROT_WRITE: c_int = 2;
const MAP_SHARED: c_int = 1;
const MAP_ANONYMOUS: c_int = 0x20;
const MAP_FAILED: usize = usize::MAX;
const SEEK_END: c_int = 2;

/// Called by the program's sockets: data from this descriptor is the input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_connected(fd: c_int) {
    unsafe {
        MODEL_STATE.connection = os::file_identity(fd);
        outside::watch(fd, core::ptr::null_mut());
    }
}

pub unsafe fn is_connected() -> bool {
    unsafe { MODEL_STATE.connection.is_some() }
}

/// True if the descriptor is open on the input's file, or connected to the input.
pub(crate) unsafe fn is_input(fd: c_int) -> bool {
    unsafe {
        let is = active() && is_given(fd);
        if is {
            outside::note_model();
            outside::watch(fd, core::ptr::null_mut());
        }
        is
    }
}

/// The same, also in runs in which nothing is symbolic.
pub(crate) unsafe fn is_given(fd: c_int) -> bool {
    unsafe {
        let header = STATE.header;
        if header.is_null() {
            return false;
        }
        let identity = os::file_identity(fd);
        identity == Some(((*header).input_device, (*header).input_inode))
            || identity.is_some() && identity == MODEL_STATE.connection
    }
}

/// Whether the path is that of the input's file.
pub(crate) unsafe fn is_named(path: *const c_char) -> bool {
    unsafe {
        let header = STATE.header;
        let mut found = Stat::default();
        real::stat(path.cast(), &mut found) == 0
            && (found.device, found.inode) == ((*header).input_device, (*header).input_inode)
    }
}

/// Gives memory that was filled from input byte `offset` on the labels of those bytes.
pub(crate) unsafe fn label_input(at: *const u8, offset: u64, size: usize) {
    unsafe {
        for i in 0..size {
            let index = offset.saturating_add(i as u64);
            let label = if index < u32::MAX as u64 { nodes::input_byte(index as u32) } else { 0 };
            shadow::set_entry(at as usize + i, label);
        }
    }
}

/// The program asked whether input byte `index` exists.
pub(crate) unsafe fn ask_byte(index: u64) {
    unsafe {
        if lengths::is_beyond(index) {
            return;
        }
        let len = Value::new(nodes::length(), STATE.input_len as u64);
        let exists = build::binary(Op::Ult, 64, Value::concrete(index), len);
        events::branch(exists, index < STATE.input_len as u64, call_site());
    }
}

/// The input's length: a variable, or with a stretch what grows with it.
unsafe fn input_length() -> Value {
    unsafe {
        let len = STATE.input_len as u64;
        if stretches::any() { stretches::input_place(len) } else { Value::new(nodes::length(), len) }
    }
}

/// Bytes `offset .. offset + wanted` were asked for at once and `got` came. Returns the label of
/// `got`.
pub(crate) unsafe fn ask_bytes(offset: u64, wanted: u64, got: u64) -> Label {
    unsafe {
        let len = input_length();
        let start = stretches::input_place(offset);
        let end = build::binary(Op::Add, 64, start, Value::concrete(wanted));
        let end = Value::new(end, offset.saturating_add(wanted));
        let short = build::binary(Op::Ult, 64, len, end);
        events::branch(short, got < wanted, call_site());
        if got == wanted || offset.saturating_add(got) != STATE.input_len as u64 {
            return 0;
        }
        ask_byte(offset);
        if got == 0 {
            return 0;
        }
        build::binary(Op::Sub, 64, len, start)
    }
}

/// Answers with the place `offset` bytes from the input's end, with the guard held.
pub(crate) unsafe fn answer_from_end(offset: i64, result: i64) {
    unsafe {
        let label = build::binary(Op::Add, 64, input_length(), Value::concrete(offset as u64));
        if (STATE.input_len as i64).wrapping_add(offset) == result {
            answer(label);
        }
    }
}

/// Offset in the input of the `got` bytes that were just read.
pub(super) unsafe fn offset_before(fd: c_int, got: isize, stays: bool) -> u64 {
    unsafe {
        let got = got.max(0) as u64;
        let errno = *os::errno();
        let position = os::lseek(fd, 0, os::SEEK_CUR);
        *os::errno() = errno;
        if position >= 0 {
            return (position as u64).saturating_sub(got);
        }
        let start = MODEL_STATE.received;
        if !stays {
            MODEL_STATE.received += got;
        }
        start
    }
}

/// `got` of the bytes that were wanted on from `offset` of the input came.
unsafe fn note_read(to: *mut u8, offset: u64, wanted: usize, got: isize) {
    unsafe {
        let Ok(got) = usize::try_from(got) else { return };
        guarded(|| {
            label_input(to, offset, got);
            answer(ask_bytes(offset, wanted as u64, got as u64));
        });
    }
}

/// Data that comes from elsewhere is concrete.
unsafe fn note_other(to: *mut u8, got: isize) {
    unsafe {
        outside::note_other_data();
        if got > 0 {
            shadow::__tgi_clear(to as usize, got as usize);
        }
    }
}

/// `got` of `size` bytes were read from the descriptor's own position, which `stays` where it was
/// after a peek.
pub(super) unsafe fn note_sequential(fd: c_int, to: *mut u8, size: usize, got: isize, stays: bool) {
    unsafe {
        answer(0);
        if is_input(fd) {
            note_read(to, offset_before(fd, got, stays), size, got);
        } else {
            note_other(to, got);
        }
    }
}

/// `read`
pub(super) unsafe fn sequential(_: &Args, fd: c_int, to: *mut u8, size: usize) -> isize {
    unsafe {
        let got = real::read(fd, to, size);
        note_sequential(fd, to, size, got, false);
        got
    }
}

/// `pread`
pub(super) unsafe fn at_offset(_: &Args, fd: c_int, to: *mut u8, size: usize, offset: i64) -> isize {
    unsafe {
        let got = os::read_at(fd, to.cast(), size, offset);
        answer(0);
        if is_input(fd) {
            note_read(to, offset.max(0) as u64, size, got);
        } else {
            note_other(to, got);
        }
        got
    }
}

/// `struct iovec`.
#[repr(C)]
pub struct Piece {
    start: *mut u8,
    size: usize,
}

/// `got` bytes were spread over the pieces; `offset` is that of the first if they are of the input.
pub(super) unsafe fn note_pieces(pieces: *const Piece, count: c_int, offset: Option<u64>, got: isize) {
    unsafe {
        answer(0);
        let Ok(got) = u64::try_from(got) else { return };
        if offset.is_none() {
            outside::note_other_data();
        }
        guarded(|| {
            let wanted = label_pieces(pieces, count, offset, got);
            if let Some(offset) = offset {
                answer(ask_bytes(offset, wanted, got));
            }
        });
    }
}

/// Labels what `got` bytes filled; returns how much there was to fill.
unsafe fn label_pieces(pieces: *const Piece, count: c_int, offset: Option<u64>, got: u64) -> u64 {
    let (mut done, mut wanted) = (0u64, 0u64);
    for i in 0..count.max(0) as usize {
        // SAFETY: the library has just read so many of them.
        let piece = unsafe { &*pieces.add(i) };
        let here = (piece.size as u64).min(got - done) as usize;
        match offset {
            Some(offset) => unsafe { label_input(piece.start, offset + done, here) },
            None => unsafe { shadow::clear(piece.start as usize, here) },
        }
        done += here as u64;
        wanted += piece.size as u64;
    }
    wanted
}

/// `readv`
pub(super) unsafe fn pieces(_: &Args, fd: c_int, pieces: *const Piece, count: c_int) -> isize {
    unsafe {
        let got = real::readv(fd, pieces, count);
        let offset = if is_input(fd) { Some(offset_before(fd, got, false)) } else { None };
        note_pieces(pieces, count, offset, got);
        got
    }
}

/// `preadv`
pub(super) unsafe fn pieces_at_offset(
    _: &Args,
    fd: c_int,
    pieces: *const Piece,
    count: c_int,
    offset: i64,
) -> isize {
    unsafe {
        let got = real::preadv(fd, pieces, count, offset);
        note_pieces(pieces, count, is_input(fd).then_some(offset.max(0) as u64), got);
        got
    }
}

/// `mmap`
pub(super) unsafe fn mapped(
    _: &Args,
    at: *mut u8,
    size: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut u8 {
    unsafe {
        let result = os::map_file(at.cast(), size, protection, flags, fd, offset).cast::<u8>();
        answer(0);
        if !active() || result as usize == MAP_FAILED {
            return result;
        }
        shadow::clear(result as usize, size);
        if flags & MAP_ANONYMOUS != 0 {
            return result;
        }
        if is_input(fd) {
            label_mapping(result, size, offset.max(0) as u64);
        } else {
            outside::note_other_data();
            if flags & MAP_SHARED != 0 && protection & PROT_WRITE != 0 {
                outside::note_shared_memory();
            }
        }
        result
    }
}

/// The input was mapped on from `offset`.
unsafe fn label_mapping(at: *mut u8, size: usize, offset: u64) {
    unsafe {
        guarded(|| {
            let there = (STATE.input_len as u64).saturating_sub(offset).min(size as u64);
            label_input(at, offset, there as usize);
            ask_bytes(offset, size as u64, there);
        });
    }
}

/// `munmap`
pub(super) unsafe fn unmapped(_: &Args, at: *mut u8, size: usize) -> c_int {
    unsafe {
        answer(0);
        if active() {
            shadow::clear(at as usize, size);
        }
        real::munmap(at, size)
    }
}

/// `close`
pub(super) unsafe fn closed(_: &Args, fd: c_int) -> c_int {
    unsafe {
        answer(0);
        outside::note_redirected(fd);
        real::close(fd)
    }
}

/// `lseek`: a seek to the end tells the input's length.
pub(super) unsafe fn moved(_: &Args, fd: c_int, offset: i64, whence: c_int) -> i64 {
    unsafe {
        outside::note_model();
        let result = os::lseek(fd, offset, whence);
        answer(0);
        if whence != SEEK_END || result < 0 {
            return result;
        }
        if is_input(fd) {
            guarded(|| answer_from_end(offset, result));
        } else {
            outside::note_other_data();
        }
        result
    }
}

/// `stat`: the size of the input's file is the input's length.
pub(super) unsafe fn status<T>(
    real: unsafe extern "C" fn(T, *mut Stat) -> c_int,
    _: &Args,
    of: T,
    stat: *mut Stat,
) -> c_int {
    unsafe {
        let result = real(of, stat);
        answer(0);
        if result == 0 && active() {
            note_status(stat);
        }
        result
    }
}

unsafe fn note_status(stat: *mut Stat) {
    unsafe {
        shadow::clear(stat as usize, size_of::<Stat>());
        let header = STATE.header;
        let input = ((*header).input_device, (*header).input_inode);
        if ((*stat).device, (*stat).inode) != input {
            outside::note_other_data();
        } else if (*stat).size == STATE.input_len as i64 {
            let place = (&raw const (*stat).size).cast();
            guarded(|| set_label(place, input_length().label, 8));
        }
    }
}
