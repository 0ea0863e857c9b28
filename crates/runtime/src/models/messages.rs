//! Where bytes of the input enter as messages: the `recv` family.

use super::input::{Piece, is_given, is_input, note_pieces, note_sequential, offset_before};
use super::table::real;
use crate::calls::Args;
use crate::{os, shadow};
use core::ffi::c_int;

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
    name: *mut u8,
    name_size: u32,
    pieces: *mut Piece,
    piece_count: usize,
    control: *mut u8,
    control_size: usize,
    flags: c_int,
}

/// A server may get its connection as the standard input, where the input is a file.
unsafe fn is_file(got: isize, fd: c_int) -> bool {
    unsafe { got < 0 && *os::errno() == ENOTSOCK && is_given(fd) }
}

/// `recv`
pub(super) unsafe fn received(_: &Args, fd: c_int, to: *mut u8, size: usize, flags: c_int) -> isize {
    unsafe {
        __tarragon_before_receive(fd);
        let mut got = real::recv(fd, to, size, flags);
        if is_file(got, fd) {
            got = real::read(fd, to, size);
        }
        note_sequential(fd, to, size, got, flags & MSG_PEEK != 0);
        got
    }
}

/// `recvfrom`
pub(super) unsafe fn received_with_sender(
    _: &Args,
    fd: c_int,
    to: *mut u8,
    size: usize,
    flags: c_int,
    from: *mut u8,
    from_size: *mut u32,
) -> isize {
    unsafe {
        __tarragon_before_receive(fd);
        let mut got = real::recvfrom(fd, to, size, flags, from, from_size);
        if is_file(got, fd) {
            got = real::read(fd, to, size);
        }
        if !from_size.is_null() {
            shadow::clear(from_size as usize, 4);
            shadow::clear(from as usize, *from_size as usize);
        }
        note_sequential(fd, to, size, got, flags & MSG_PEEK != 0);
        got
    }
}

/// `recvmsg`
pub(super) unsafe fn message(_: &Args, fd: c_int, message: *mut Message, flags: c_int) -> isize {
    unsafe {
        __tarragon_before_receive(fd);
        let (name_room, control_room) = ((*message).name_size, (*message).control_size);
        let (pieces, count) = ((*message).pieces, (*message).piece_count as c_int);
        let mut got = real::recvmsg(fd, message, flags);
        if is_file(got, fd) {
            got = real::readv(fd, pieces, count);
        }
        shadow::clear(message as usize, size_of::<Message>());
        shadow::clear((*message).name as usize, (*message).name_size.min(name_room) as usize);
        shadow::clear((*message).control as usize, (*message).control_size.min(control_room));
        let offset = if is_input(fd) { Some(offset_before(fd, got, flags & MSG_PEEK != 0)) } else { None };
        note_pieces(pieces, count, offset, got);
        got
    }
}
