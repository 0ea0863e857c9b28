//! Threads and processes of the target.

use super::answer;
use crate::{calls, os, state};
use core::ffi::{c_int, c_void};

unsafe extern "C" {
    fn fork() -> c_int;
    fn pthread_create(
        thread: *mut c_void,
        attributes: *const c_void,
        start: *const c_void,
        argument: *mut c_void,
    ) -> c_int;
}

/// The child of a target does not write into its parent's trace.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_fork() -> c_int {
    unsafe {
        let child = fork();
        if child == 0 {
            state::deactivate();
        }
        answer(0);
        child
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_pthread_create(
    thread: *mut c_void,
    attributes: *const c_void,
    start: *const c_void,
    argument: *mut c_void,
) -> c_int {
    unsafe {
        calls::__tgi_args_taken();
        if (*os::tls()).busy == 0 {
            calls::note_thread();
        }
        let result = pthread_create(thread, attributes, start, argument);
        answer(0);
        result
    }
}
