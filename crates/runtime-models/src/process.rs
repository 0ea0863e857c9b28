//! Threads and processes of the target.

use super::answer;
use super::table::real;
use crate::outside::output;
use core::ffi::c_int;
use runtime_core::calls::{self, Args};
use runtime_core::state::Run;
use runtime_core::tls::tls;
use trace::GiveUp;

#[cfg(not(any(test, feature = "testing")))]
unsafe extern "C" {
    /// What waiting needs that parent and child share.
    safe fn __tarragon_before_fork() -> c_int;
    /// Waits for a child; 0 if it stands still before it ends. The instrumenter makes it return 0
    /// where it is not part of the program.
    safe fn __tarragon_forked(child: c_int) -> c_int;
}

#[cfg(any(test, feature = "testing"))]
fn __tarragon_before_fork() -> c_int {
    0
}

#[cfg(any(test, feature = "testing"))]
fn __tarragon_forked(_: c_int) -> c_int {
    0
}

/// `fork`: the child goes on with the run, then the parent does. Where a child needs its parent to
/// end, both go on: they are followed, but in which order they run is not the input's to say.
pub(super) fn child(run: &Run, _: &Args) -> c_int {
    let can_write = run.family.found(run);
    __tarragon_before_fork();
    // SAFETY: the program's own call.
    let child = unsafe { real::fork() };
    if child == 0 {
        run.join_family();
    } else if child > 0 {
        let has_ended = __tarragon_forked(child) != 0;
        run.family.bury(child as u32);
        if !can_write || !has_ended || output::has_common_memory() {
            run.segment.count_give_up(GiveUp::ForkedChild);
        }
    }
    answer(0);
    child
}

/// What a forked child does is no matter of the input alone.
#[unsafe(no_mangle)]
pub extern "C" fn __tarragon_lost() {
    count(GiveUp::ForkedChild);
}

/// A run is ended where the program would not end, or goes on where it would wait.
#[unsafe(no_mangle)]
pub extern "C" fn __tarragon_undecided() {
    count(GiveUp::Undecided);
}

fn count(reason: GiveUp) {
    let run = Run::current();
    if run.symbolic.get() {
        run.segment.count_give_up(reason);
    }
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
