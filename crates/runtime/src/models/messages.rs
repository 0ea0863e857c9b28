//! Where bytes of the input enter as messages: the `recv` family.

use super::input::{Piece, is_given, is_input, note_pieces, note_sequential, offset_before};
use crate::calls::{self, Args};
use crate::{os, shadow};
use core::ffi::{c_int, c_void};
use trace::ConcretiseReason;

unsafe extern "C" {
    fn read(fd: c_int, to: *mut c_void, size: usize) -> isize;
    fn readv(fd: c_int, pieces: *const Piece, count: c_int) -> isize;
    fn recv(fd: c_int, to: *mut c_void, size: usize, flags: c_int) -> isize;
    fn recvfrom(
        fd: c_int,
        to: *mut c_void,
        size: usize,
        flags: c_int,
        from: *mut c_void,
        from_size: *mut u32,
    ) -> isize;
    fn recvmsg(fd: c_int, message: *mut Message, flags: c_int) -> isize;
}

#[cfg(not(test))]
unsafe extern "C" {
    /// Of the program's sockets; the instrumenter makes it do nothing if there are none.
    fn __tarragon_before_receive(fd: c_int);
}

#[cfg(test)]
unsafe fn __tarragon_before_receive(_: c_int) {}

const MSG_PEEK: c_int = 2;
const ENOTSOCK: c_int = 88;

/// `struct msghdr`.
#[repr(C)]
pub struct Message {
    name: *mut c_void,
    name_size: u32,
    pieces: *mut Piece,
    piece_count: usize,
    control: *mut c_void,
    control_size: usize,
    flags: c_int,
}

/// A server may get its connection as the standard input, where the input is a file.
unsafe fn is_file(got: isize, fd: c_int) -> bool {
    unsafe { got < 0 && *os::errno() == ENOTSOCK && is_given(fd) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_recv(
    fd: c_int,
    to: *mut c_void,
    size: usize,
    flags: c_int,
) -> isize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        __tarragon_before_receive(fd);
        let mut got = recv(fd, to, size, flags);
        if is_file(got, fd) {
            got = read(fd, to, size);
        }
        note_sequential(fd, to, size, got, flags & MSG_PEEK != 0);
        got
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_recvfrom(
    fd: c_int,
    to: *mut c_void,
    size: usize,
    flags: c_int,
    from: *mut c_void,
    from_size: *mut u32,
) -> isize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        __tarragon_before_receive(fd);
        let mut got = recvfrom(fd, to, size, flags, from, from_size);
        if is_file(got, fd) {
            got = read(fd, to, size);
        }
        if !from_size.is_null() {
            shadow::clear(from_size as usize, 4);
            shadow::clear(from as usize, *from_size as usize);
        }
        note_sequential(fd, to, size, got, flags & MSG_PEEK != 0);
        got
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_recvmsg(fd: c_int, message: *mut Message, flags: c_int) -> isize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        __tarragon_before_receive(fd);
        let (name_room, control_room) = ((*message).name_size, (*message).control_size);
        let (pieces, count) = ((*message).pieces, (*message).piece_count as c_int);
        let mut got = recvmsg(fd, message, flags);
        if is_file(got, fd) {
            got = readv(fd, pieces, count);
        }
        shadow::clear(message as usize, size_of::<Message>());
        shadow::clear((*message).name as usize, (*message).name_size.min(name_room) as usize);
        shadow::clear((*message).control as usize, (*message).control_size.min(control_room));
        let offset = if is_input(fd) { Some(offset_before(fd, got, flags & MSG_PEEK != 0)) } else { None };
        note_pieces(pieces, count, offset, got);
        got
    }
}
