//! Several inputs in one process: the run's side.
//!
//! A program with a loop over inputs (the `main` of libFuzzer harnesses, AFL++'s persistent mode) calls [`again`] at the
//! end of each round. If the driver lets runs share a process, the call reports the end of the run, and returns once the next
//! input lies ready. Whatever is unusual ends the loop instead, so that the process ends as without a server, and the next
//! input gets a new one: what the program keeps between rounds is its own, but nothing else may pass from one run to the next.

use crate::server::receive;
use crate::sys;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use trace::SERVER_FDS;
use trace::server::Pause;

/// Inputs that a process takes at most: what a program leaks adds up.
const MOST_RUNS: u32 = 1000;
/// Memory in KiB by which a process may grow.
const MOST_GROWTH: u64 = 64 << 10;

struct Batch {
    /// The process that may go on; 0 for none. Children of the program may not.
    process: c_int,
    runs: u32,
    /// Largest resident set at the end of the first run.
    first_rss_kib: u64,
}

static mut BATCH: Batch = Batch { process: 0, runs: 0, first_rss_kib: 0 };

unsafe extern "C" {
    static mut stdin: *mut c_void;
    fn fflush(stream: *mut c_void) -> c_int;
    fn __fpurge(stream: *mut c_void);
    fn clearerr(stream: *mut c_void);
}

/// A run begins in a process of its own, which may take further inputs if it `shares`.
pub unsafe fn enter(shares: bool) {
    // SAFETY: the server calls this before the program goes on.
    unsafe { BATCH = Batch { process: if shares { sys::getpid() } else { 0 }, runs: 0, first_rss_kib: 0 } };
}

/// How many inputs this process has had, the present one included, if it may have more; otherwise 0.
pub unsafe fn round() -> u32 {
    // SAFETY: see `again`.
    unsafe { if BATCH.process == 0 { 0 } else { BATCH.runs + 1 } }
}

/// The program is done with its input. Forgets the run (`forget` says whether that is possible), and waits for the next
/// input; false if there is none for this process.
pub unsafe fn again(forget: impl FnOnce() -> bool) -> bool {
    // SAFETY: the program's main thread calls this, outside of the runtime.
    unsafe {
        if BATCH.process == 0 || BATCH.process != sys::getpid() || has_children() {
            return false;
        }
        fflush(null_mut());
        let pause = used();
        BATCH.runs += 1;
        if BATCH.runs == 1 {
            BATCH.first_rss_kib = pause.max_rss_kib;
        }
        let too_large = pause.max_rss_kib > BATCH.first_rss_kib + MOST_GROWTH;
        if BATCH.runs >= MOST_RUNS || too_large || !forget() || !announce(&pause) {
            return false;
        }
        if receive(SERVER_FDS.batch).is_none() {
            sys::_exit(0);
        }
        __fpurge(stdin);
        clearerr(stdin);
        true
    }
}

unsafe fn has_children() -> bool {
    let options = sys::WEXITED | sys::WNOHANG | sys::WNOWAIT;
    // SAFETY: without a place for it, nothing is written.
    unsafe { sys::waitid(sys::P_ALL, 0, null_mut(), options) == 0 || sys::errno() != sys::ECHILD }
}

unsafe fn used() -> Pause {
    let mut usage = sys::Usage::default();
    // SAFETY: the structure is valid for writing.
    unsafe { sys::getrusage(sys::RUSAGE_SELF, &mut usage) };
    Pause { cpu_time_us: usage.cpu_time_us(), max_rss_kib: usage.max_rss_kib.max(0) as u64 }
}

unsafe fn announce(pause: &Pause) -> bool {
    let len = size_of::<Pause>();
    // SAFETY: the message has `len` initialised bytes: its layout has no padding.
    unsafe {
        sys::send(SERVER_FDS.batch, (&raw const *pause).cast::<c_void>(), len, sys::MSG_NOSIGNAL)
            == len as isize
    }
}
