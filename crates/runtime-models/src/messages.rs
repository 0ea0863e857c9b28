//! Where bytes of the input enter as messages: the `recv` family.

use super::guarded;
use super::input::{
    Piece, fix_pieces, given_by, note_pieces, note_sequential, offset_before, source_of, wanted_by,
};
use super::table::real;
use super::unfollowed::fix_numbers;
use core::ffi::c_int;
use runtime_core::calls::Args;
use runtime_core::state::Run;
use runtime_core::{os, shadow};

#[cfg(not(any(test, feature = "testing")))]
unsafe extern "C" {
    /// Of the program's sockets; the instrumenter makes it do nothing if there are none.
    safe fn __tarragon_before_receive(fd: c_int);
}

#[cfg(any(test, feature = "testing"))]
fn __tarragon_before_receive(_: c_int) {}

const MSG_PEEK: c_int = 2;
const MSG_TRUNC: c_int = 0x20;
const ENOTSOCK: c_int = 88;

/// `struct msghdr`.
#[repr(C)]
pub struct Message {
    name: *mut u8,
    name_size: u32,
    pieces: *mut Piece,
    piece_count: usize,
    control: *mut u8,
    control_size: usize,
    flags: c_int,
}

/// A server may get its connection as the standard input, where the input is a file.
fn is_file(run: &Run, got: isize, fd: c_int) -> bool {
    // SAFETY: the C library keeps the variable as long as this thread runs.
    let is_no_socket = || unsafe { os::errno().read() } == ENOTSOCK;
    got < 0 && is_no_socket() && given_by(run, fd).is_some()
}

/// Who is told the size of a datagram that was cut, or that one was, knows whether it is larger than
/// what was `wanted`. A datagram begins with its source.
fn ask_whether_cut(run: &Run, fd: c_int, wanted: u64, got: isize) {
    let is_full = u64::try_from(got).is_ok_and(|got| got >= wanted);
    if is_full
        && os::takes_datagrams(fd)
        && let Some(source) = source_of(run, fd)
    {
        guarded(|run| source.ask_byte(run, wanted));
    }
}

/// `recv`
pub(super) fn received(
    run: &Run,
    _: &Args,
    fd: c_int,
    to: *mut u8,
    size: usize,
    flags: c_int,
) -> isize {
    __tarragon_before_receive(fd);
    // SAFETY: the program's own call.
    let mut got = unsafe { real::recv(fd, to, size, flags) };
    if is_file(run, got, fd) {
        // SAFETY: the bytes are there for the library to write.
        got = unsafe { real::read(fd, to, size) };
    }
    note_sequential(run, fd, to, size, got, flags & MSG_PEEK != 0);
    if flags & MSG_TRUNC != 0 {
        ask_whether_cut(run, fd, size as u64, got);
    }
    got
}

/// `recvfrom`
#[allow(clippy::too_many_arguments, reason = "those of the library's function")]
pub(super) fn received_with_sender(
    run: &Run,
    _: &Args,
    fd: c_int,
    to: *mut u8,
    size: usize,
    flags: c_int,
    from: *mut u8,
    from_size: *mut u32,
) -> isize {
    __tarragon_before_receive(fd);
    fix_numbers(run, from_size, 1, 4);
    // SAFETY: the program's own call.
    let mut got = unsafe { real::recvfrom(fd, to, size, flags, from, from_size) };
    if is_file(run, got, fd) {
        // SAFETY: the bytes are there for the library to write.
        got = unsafe { real::read(fd, to, size) };
    }
    if !from_size.is_null() {
        shadow::clear(from_size as usize, 4);
        // SAFETY: the library has just used the place.
        shadow::clear(from as usize, unsafe { from_size.read() } as usize);
    }
    note_sequential(run, fd, to, size, got, flags & MSG_PEEK != 0);
    if flags & MSG_TRUNC != 0 {
        ask_whether_cut(run, fd, size as u64, got);
    }
    got
}

/// `recvmsg`
pub(super) fn message(
    run: &Run,
    _: &Args,
    fd: c_int,
    message: *mut Message,
    flags: c_int,
) -> isize {
    __tarragon_before_receive(fd);
    // SAFETY: the program passes the message to the library, which is about to read these.
    let (name_room, control_room, pieces, count) = unsafe {
        let Message { name_size, control_size, pieces, piece_count, .. } = &*message;
        (*name_size, *control_size, *pieces, *piece_count as c_int)
    };
    fix_numbers(run, message, size_of::<Message>() / 8, 8);
    fix_pieces(run, pieces, count);
    // SAFETY: the program's own call.
    let mut got = unsafe { real::recvmsg(fd, message, flags) };
    if is_file(run, got, fd) {
        // SAFETY: the pieces are there for the library to write.
        got = unsafe { real::readv(fd, pieces, count) };
    }
    shadow::clear(message as usize, size_of::<Message>());
    // SAFETY: the library has just used it.
    let Message { name, name_size, control, control_size, .. } = unsafe { &*message };
    shadow::clear(*name as usize, (*name_size).min(name_room) as usize);
    shadow::clear(*control as usize, (*control_size).min(control_room));
    let stays = flags & MSG_PEEK != 0;
    let from = source_of(run, fd).map(|source| (source, offset_before(source, fd, got, stays)));
    note_pieces(run, pieces, count, from, got);
    ask_whether_cut(run, fd, wanted_by(pieces, count), got);
    got
}
