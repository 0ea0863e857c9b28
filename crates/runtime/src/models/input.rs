//! Where bytes of the input enter: the `read` family.

use super::{answer, call_site};
use crate::build::{self, Value};
use crate::calls::{self, Args};
use crate::state::{self, STATE, active};
use crate::{events, nodes, os, shadow};
use core::ffi::{c_int, c_void};
use trace::{ConcretiseReason, Label, Op};

unsafe extern "C" {
    fn read(fd: c_int, to: *mut c_void, size: usize) -> isize;
    fn pread(fd: c_int, to: *mut c_void, size: usize, offset: i64) -> isize;
}

/// True if the descriptor is open on the input's file.
pub(crate) unsafe fn is_input(fd: c_int) -> bool {
    unsafe {
        if !active() {
            return false;
        }
        let header = STATE.header;
        os::file_identity(fd) == Some(((*header).input_device, (*header).input_inode))
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
        let len = Value::new(nodes::length(), STATE.input_len as u64);
        let exists = build::binary(Op::Ult, 64, Value::concrete(index), len);
        events::branch(exists, index < STATE.input_len as u64, call_site());
    }
}

/// Bytes `offset .. offset + wanted` were asked for at once and `got` came. Returns the label of `got`.
pub(crate) unsafe fn ask_bytes(offset: u64, wanted: u64, got: u64) -> Label {
    unsafe {
        let len = Value::new(nodes::length(), STATE.input_len as u64);
        let short = build::binary(Op::Ult, 64, len, Value::concrete(offset.saturating_add(wanted)));
        events::branch(short, got < wanted, call_site());
        if got == wanted || offset.saturating_add(got) != STATE.input_len as u64 {
            return 0;
        }
        ask_byte(offset);
        if got == 0 {
            return 0;
        }
        build::binary(Op::Sub, 64, len, Value::concrete(offset))
    }
}

unsafe fn note_read(to: *mut c_void, offset: i64, wanted: usize, got: isize) {
    unsafe {
        if got < 0 || offset < 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        label_input(to.cast(), offset as u64, got as usize);
        let label = ask_bytes(offset as u64, wanted as u64, got as u64);
        answer(label);
    }
}

/// Data that comes from elsewhere is concrete.
unsafe fn note_other(to: *mut c_void, got: isize) {
    unsafe {
        if got > 0 {
            shadow::__tgi_clear(to as usize, got as usize);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_read(fd: c_int, to: *mut c_void, size: usize) -> isize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let got = read(fd, to, size);
        answer(0);
        if is_input(fd) {
            note_read(to, os::lseek(fd, 0, os::SEEK_CUR) - got.max(0) as i64, size, got);
        } else {
            note_other(to, got);
        }
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
        let got = pread(fd, to, size, offset);
        answer(0);
        if is_input(fd) {
            note_read(to, offset, size, got);
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
