//! Threads and processes of the target.

use super::answer;
use super::table::real;
use crate::calls::{self, Args};
use crate::{os, state};
use core::ffi::c_int;

/// `fork`: the child of a target does not write into its parent's trace.
pub(super) unsafe fn child(_: &Args) -> c_int {
    unsafe {
        let child = real::fork();
        if child == 0 {
            state::deactivate();
        }
        answer(0);
        child
    }
}

/// `pthread_create`
pub(super) unsafe fn thread(
    _: &Args,
    thread: *mut u8,
    attributes: *const u8,
    start: *const u8,
    argument: *mut u8,
) -> c_int {
    unsafe {
        if (*os::tls()).busy == 0 {
            calls::note_thread();
        }
        let result = real::pthread_create(thread, attributes, start, argument);
        answer(0);
        result
    }
}
