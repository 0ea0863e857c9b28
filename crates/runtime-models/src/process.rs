//! Threads and processes of the target.

use super::answer;
use super::table::real;
use core::ffi::c_int;
use runtime_core::calls::{self, Args};
use runtime_core::state::Run;
use runtime_core::tls::tls;

/// `fork`: the child of a target does not write into its parent's trace.
pub(super) fn child(run: &Run, _: &Args) -> c_int {
    // SAFETY: the program's own call.
    let child = unsafe { real::fork() };
    if child == 0 {
        run.deactivate();
    }
    answer(0);
    child
}

/// `pthread_create`
pub(super) fn thread(
    run: &Run,
    _: &Args,
    thread: *mut u8,
    attributes: *const u8,
    start: *const u8,
    argument: *mut u8,
) -> c_int {
    if tls().busy.get() == 0 {
        calls::note_thread(run);
    }
    // SAFETY: the program's own call.
    let result = unsafe { real::pthread_create(thread, attributes, start, argument) };
    answer(0);
    result
}
