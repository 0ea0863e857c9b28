//! Where bytes of the input enter: the `read` family and mapped files; and where its length is asked for.

use super::{answer, call_site};
use crate::build::{self, Value};
use crate::calls::{self, Args};
use crate::state::{self, STATE, active};
use crate::sys::Stat;
use crate::{events, lengths, nodes, os, outside, shadow, stretches};
use core::ffi::{c_char, c_int, c_void};
use trace::{ConcretiseReason, Label, Op};

unsafe extern "C" {
    fn read(fd: c_int, to: *mut c_void, size: usize) -> isize;
    fn readv(fd: c_int, pieces: *const Piece, count: c_int) -> isize;
    fn preadv(fd: c_int, pieces: *const Piece, count: c_int, offset: i64) -> isize;
    fn close(fd: c_int) -> c_int;
    fn munmap(at: *mut c_void, size: usize) -> c_int;
    fn fstat(fd: c_int, stat: *mut Stat) -> c_int;
    fn stat(path: *const c_char, stat: *mut Stat) -> c_int;
    fn lstat(path: *const c_char, stat: *mut Stat) -> c_int;
}

const PROT_WRITE: c_int = 2;
const MAP_SHARED: c_int = 1;
const MAP_ANONYMOUS: c_int = 0x20;
const MAP_FAILED: usize = usize::MAX;
const SEEK_END: c_int = 2;

/// The socket through which the input comes, if it does.
static mut CONNECTION: Option<(u64, u64)> = None;

/// Called by the program's sockets: data from this descriptor is the input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_connected(fd: c_int) {
    unsafe {
        CONNECTION = os::file_identity(fd);
        outside::watch(fd, core::ptr::null_mut());
    }
}

pub unsafe fn is_connected() -> bool {
    unsafe { CONNECTION.is_some() }
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
            || identity.is_some() && identity == CONNECTION
    }
}

/// Whether the path is that of the input's file.
pub(crate) unsafe fn is_named(path: *const c_char) -> bool {
    unsafe {
        let header = STATE.header;
        let mut found = Stat::default();
        stat(path, &mut found) == 0
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

/// Bytes `offset .. offset + wanted` were asked for at once and `got` came. Returns the label of `got`.
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

/// Bytes of the input that came from a descriptor without a position, such as a socket.
static mut RECEIVED: u64 = 0;

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
        let start = RECEIVED;
        if !stays {
            RECEIVED += got;
        }
        start
    }
}

unsafe fn note_read(to: *mut c_void, offset: u64, wanted: usize, got: isize) {
    unsafe {
        if got < 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        label_input(to.cast(), offset, got as usize);
        answer(ask_bytes(offset, wanted as u64, got as u64));
    }
}

/// Data that comes from elsewhere is concrete.
unsafe fn note_other(to: *mut c_void, got: isize) {
    unsafe {
        outside::note_other_data();
        if got > 0 {
            shadow::__tgi_clear(to as usize, got as usize);
        }
    }
}

/// `got` of `size` bytes were read from the descriptor's own position, which `stays` where it was after a peek.
pub(super) unsafe fn note_sequential(fd: c_int, to: *mut c_void, size: usize, got: isize, stays: bool) {
    unsafe {
        answer(0);
        if is_input(fd) {
            note_read(to, offset_before(fd, got, stays), size, got);
        } else {
            note_other(to, got);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_read(fd: c_int, to: *mut c_void, size: usize) -> isize {
    unsafe {
        super::copy::take_sized(2, [to, to], size, 1);
        let got = read(fd, to, size);
        note_sequential(fd, to, size, got, false);
        got
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_pread(
    fd: c_int,
    to: *mut c_void,
    size: usize,
    offset: i64,
) -> isize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let got = os::read_at(fd, to, size, offset);
        answer(0);
        if is_input(fd) {
            note_read(to, offset.max(0) as u64, size, got);
        } else {
            note_other(to, got);
        }
        got
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_pread64(
    fd: c_int,
    to: *mut c_void,
    size: usize,
    offset: i64,
) -> isize {
    unsafe { __tarragon_model_pread(fd, to, size, offset) }
}

/// `struct iovec`.
#[repr(C)]
pub struct Piece {
    start: *mut c_void,
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
        let Some(_entered) = state::enter() else { return };
        let (mut done, mut wanted) = (0u64, 0u64);
        for i in 0..count.max(0) as usize {
            let piece = &*pieces.add(i);
            let here = (piece.size as u64).min(got - done) as usize;
            match offset {
                Some(offset) => label_input(piece.start.cast(), offset + done, here),
                None => shadow::clear(piece.start as usize, here),
            }
            done += here as u64;
            wanted += piece.size as u64;
        }
        if let Some(offset) = offset {
            answer(ask_bytes(offset, wanted, got));
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_readv(fd: c_int, pieces: *const Piece, count: c_int) -> isize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let got = readv(fd, pieces, count);
        let offset = if is_input(fd) { Some(offset_before(fd, got, false)) } else { None };
        note_pieces(pieces, count, offset, got);
        got
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_preadv(
    fd: c_int,
    pieces: *const Piece,
    count: c_int,
    offset: i64,
) -> isize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let got = preadv(fd, pieces, count, offset);
        note_pieces(pieces, count, is_input(fd).then_some(offset.max(0) as u64), got);
        got
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_preadv64(
    fd: c_int,
    pieces: *const Piece,
    count: c_int,
    offset: i64,
) -> isize {
    unsafe { __tarragon_model_preadv(fd, pieces, count, offset) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_mmap(
    at: *mut c_void,
    size: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::AllocationSize);
        let result = os::map_file(at, size, protection, flags, fd, offset);
        answer(0);
        if !active() || result as usize == MAP_FAILED {
            return result;
        }
        shadow::clear(result as usize, size);
        if flags & MAP_ANONYMOUS != 0 {
            return result;
        }
        if !is_input(fd) {
            outside::note_other_data();
            if flags & MAP_SHARED != 0 && protection & PROT_WRITE != 0 {
                outside::note_shared_memory();
            }
        } else if let Some(_entered) = state::enter() {
            let offset = offset.max(0) as u64;
            let there = (STATE.input_len as u64).saturating_sub(offset).min(size as u64);
            label_input(result.cast(), offset, there as usize);
            ask_bytes(offset, size as u64, there);
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_mmap64(
    at: *mut c_void,
    size: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    unsafe { __tarragon_model_mmap(at, size, protection, flags, fd, offset) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_munmap(at: *mut c_void, size: usize) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::AllocationSize);
        answer(0);
        if active() {
            shadow::clear(at as usize, size);
        }
        munmap(at, size)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_close(fd: c_int) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::Argument);
        answer(0);
        outside::note_redirected(fd);
        close(fd)
    }
}

/// Seeking to the end tells the input's length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_lseek(fd: c_int, offset: i64, whence: c_int) -> i64 {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::Argument);
        outside::note_model();
        let result = os::lseek(fd, offset, whence);
        answer(0);
        if whence != SEEK_END || result < 0 {
            return result;
        }
        if !is_input(fd) {
            outside::note_other_data();
        } else if let Some(_entered) = state::enter() {
            answer_from_end(offset, result);
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_lseek64(fd: c_int, offset: i64, whence: c_int) -> i64 {
    unsafe { __tarragon_model_lseek(fd, offset, whence) }
}

/// `struct stat` was filled: the size of the input's file is the input's length.
unsafe fn note_stat(stat: *mut Stat, result: c_int) {
    unsafe {
        answer(0);
        if result != 0 || !active() {
            return;
        }
        shadow::clear(stat as usize, size_of::<Stat>());
        let header = STATE.header;
        let input = ((*header).input_device, (*header).input_inode);
        if ((*stat).device, (*stat).inode) != input {
            outside::note_other_data();
        } else if (*stat).size == STATE.input_len as i64 {
            note_size(&raw const (*stat).size as usize);
        }
    }
}

unsafe fn note_size(place: usize) {
    unsafe {
        let Some(_entered) = state::enter() else { return };
        super::set_label(place as *const u8, input_length().label, 8);
    }
}

macro_rules! stats {
    ($($name:ident = $real:ident: $of:ty;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(of: $of, stat: *mut Stat) -> c_int {
            unsafe {
                calls::concretise_args(&Args::take(), ConcretiseReason::Argument);
                let result = $real(of, stat);
                note_stat(stat, result);
                result
            }
        }
    )*};
}

stats!(
    __tarragon_model_fstat = fstat: c_int;
    __tarragon_model_fstat64 = fstat: c_int;
    __tarragon_model_stat = stat: *const c_char;
    __tarragon_model_stat64 = stat: *const c_char;
    __tarragon_model_lstat = lstat: *const c_char;
    __tarragon_model_lstat64 = lstat: *const c_char;
);
