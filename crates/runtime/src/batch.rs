//! Several inputs in one process: the run's side.
//!
//! A program with a loop over inputs (the `main` of libFuzzer harnesses, AFL++'s persistent mode) calls [`again`] at the
//! end of each round. If the driver lets runs share a process, the call reports the end of the run, and returns once the next
//! input lies ready. What the program keeps between rounds is its own, but nothing else may pass from one run to the next.
//!
//! Any other program is rewound when it exits ([`snapshot`]), and begins again with the next input.
//!
//! Whatever is unusual ends the process instead, as without a server, and the next input gets a new one.

use crate::server::receive;
use crate::{snapshot, sys};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use trace::SERVER_FDS;
use trace::server::Pause;

/// Inputs that a process takes at most: what a program leaks adds up.
const MOST_RUNS: u32 = 1000;
/// Memory in KiB by which a process may grow.
const MOST_GROWTH: u64 = 64 << 10;

#[derive(Clone, Copy)]
struct Batch {
    /// The process that may go on; 0 for none. Children of the program may not.
    process: c_int,
    runs: u32,
    /// Largest resident set at the end of the first run.
    first_rss_kib: u64,
    /// The lowest descriptor that was free when the run began; 0 if the process cannot be rewound.
    free_descriptor: c_int,
}

const NO_BATCH: Batch = Batch { process: 0, runs: 0, first_rss_kib: 0, free_descriptor: 0 };

static mut BATCH: Batch = NO_BATCH;

/// What belongs to one run besides the program's memory.
pub trait Labels {
    /// What outlives a rewound process.
    type Kept: Copy;
    /// Ends the run; `None` if the process cannot take another one.
    unsafe fn forget() -> Option<Self::Kept>;
    /// Puts back what was kept.
    unsafe fn recall(kept: Self::Kept);
}

unsafe extern "C" {
    static mut stdin: *mut c_void;
    fn fflush(stream: *mut c_void) -> c_int;
    fn __fpurge(stream: *mut c_void);
    fn clearerr(stream: *mut c_void);
}

/// A run begins in a process of its own, which may take further inputs if it `shares`.
pub unsafe fn enter(shares: bool) {
    // SAFETY: the server calls this before the program goes on.
    unsafe { BATCH = Batch { process: if shares { sys::getpid() } else { 0 }, ..NO_BATCH } };
}

/// Where a run begins. Returns again for each further input of a process that is rewound.
pub unsafe fn begin() {
    // SAFETY: called on the main thread, before the program goes on.
    unsafe {
        if BATCH.process == 0 || !snapshot::is_possible() {
            return;
        }
        let free = sys::dup(0);
        if free > 0 {
            sys::close(free);
            BATCH.free_descriptor = free;
            snapshot::begin();
        }
    }
}

/// Makes processes that may take further inputs begin again at their exit. Called before the program's own code, so
/// that whatever it does at its exit is done before.
pub unsafe fn watch_exit<L: Labels>() {
    // SAFETY: the handler is there for as long as the program is.
    unsafe { sys::on_exit(exits::<L>, null_mut()) };
}

/// The program exits. Returns if the process has to end.
unsafe extern "C" fn exits<L: Labels>(code: c_int, _: *mut c_void) {
    // SAFETY: `exit` calls this on the thread that exits; other threads end the batch.
    unsafe {
        if BATCH.free_descriptor == 0 || !goes_on() || !descriptors_remain() {
            return;
        }
        let pause = Pause { wait_status: (code & 0xff) << 8, ..used() };
        if !has_room(&pause) {
            return;
        }
        let Some(kept) = L::forget() else { return };
        if announce(&pause) {
            snapshot::rewind((BATCH, kept), begins_again::<L>);
        }
    }
}

unsafe extern "C" fn begins_again<L: Labels>(kept: *const (Batch, L::Kept)) {
    // SAFETY: what was kept is valid for reading, and the program does not run.
    unsafe {
        let (batch, labels) = *kept;
        BATCH = batch;
        L::recall(labels);
        if receive(SERVER_FDS.batch).is_none() {
            sys::_exit(0);
        }
    }
}

/// Closes what the program opened; false if it closed what was open.
unsafe fn descriptors_remain() -> bool {
    // SAFETY: descriptors touch no memory.
    unsafe {
        let lowest = sys::dup(0);
        if lowest < BATCH.free_descriptor {
            return false;
        }
        sys::close(lowest);
        let last = SERVER_FDS.segment - 1;
        sys::syscall(sys::SYS_CLOSE_RANGE, BATCH.free_descriptor, last, 0) == 0
    }
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
        BATCH.free_descriptor = 0;
        if !goes_on() {
            return false;
        }
        let pause = used();
        if !has_room(&pause) || !forget() || !announce(&pause) {
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

/// Whether this process may take further inputs. What it printed is printed then.
unsafe fn goes_on() -> bool {
    // SAFETY: see `again`.
    unsafe {
        if BATCH.process == 0 || BATCH.process != sys::getpid() || has_children() {
            return false;
        }
        fflush(null_mut());
        true
    }
}

/// Counts a run; false if the process has had its share.
unsafe fn has_room(pause: &Pause) -> bool {
    // SAFETY: see `again`.
    unsafe {
        BATCH.runs += 1;
        if BATCH.runs == 1 {
            BATCH.first_rss_kib = pause.max_rss_kib;
        }
        BATCH.runs < MOST_RUNS && pause.max_rss_kib <= BATCH.first_rss_kib + MOST_GROWTH
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
    let max_rss_kib = usage.max_rss_kib.max(0) as u64;
    Pause { cpu_time_us: usage.cpu_time_us(), max_rss_kib, ..Pause::default() }
}

unsafe fn announce(pause: &Pause) -> bool {
    let len = size_of::<Pause>();
    // SAFETY: the message has `len` initialised bytes: its layout has no padding.
    unsafe {
        sys::send(SERVER_FDS.batch, (&raw const *pause).cast::<c_void>(), len, sys::MSG_NOSIGNAL)
            == len as isize
    }
}
