//! Several inputs in one process: the run's side.
//!
//! A program with a loop over inputs (the `main` of libFuzzer harnesses, AFL++'s persistent mode) calls [`again`] at the
//! end of each round. If the driver lets runs share a process, the call reports the end of the run, and returns once the next
//! input lies ready. What the program keeps between rounds is its own, but nothing else may pass from one run to the next.
//!
//! Any other program is rewound when it exits or crashes ([`snapshot`]), and begins again with the next input.
//!
//! While such a process lives, it takes commands from the driver and reports by itself: waking the server for each would cost as much as a
//! short run. The server sees from [`Progress`] how long the present command may take.
//!
//! Whatever is unusual ends the process instead, as without a server, and the next input gets a new one.

use crate::supervise::{now_us, peek, receive, send};
use crate::{snapshot, sys};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use trace::SERVER_FDS;
use trace::server::{DONE, Progress, Report};

/// Inputs that a process takes at most: what a program leaks adds up.
const MOST_RUNS: u32 = 1000;
/// Memory in KiB by which a process may grow.
const MOST_GROWTH: u64 = 64 << 10;

#[derive(Clone, Copy)]
struct Batch {
    /// Null if the process has one input only.
    progress: *mut Progress,
    /// The process that may go on. Children of the program may not.
    process: c_int,
    input_is_stdin: bool,
    /// Largest resident set at the end of the first run.
    first_rss_kib: u64,
    /// The lowest descriptor that was free when the run began; 0 if the process cannot be rewound.
    free_descriptor: c_int,
    /// What lay behind [`LINE`] when the process began.
    line: [File; LINE.len()],
}

/// Device and inode of an open descriptor.
type File = Option<(u64, u64)>;

/// The descriptors without which a process cannot take further inputs.
const LINE: [c_int; 2] = [SERVER_FDS.commands, SERVER_FDS.reports];

const NO_BATCH: Batch = Batch {
    progress: null_mut(),
    process: 0,
    input_is_stdin: false,
    first_rss_kib: 0,
    free_descriptor: 0,
    line: [None; LINE.len()],
};

static mut BATCH: Batch = NO_BATCH;

/// What belongs to one run besides the program's memory.
pub trait Labels {
    /// What outlives a rewound process.
    type Kept: Copy;
    /// The program ends, whether or not the process does.
    unsafe fn end();
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

/// A run begins in a process of its own, which may take further inputs if there is memory for its progress.
pub unsafe fn enter(progress: *mut Progress, input_is_stdin: bool) {
    // SAFETY: the server calls this before the program goes on.
    unsafe {
        if !progress.is_null() {
            let line = LINE.map(|descriptor| file(descriptor));
            BATCH = Batch { progress, process: sys::getpid(), input_is_stdin, line, ..NO_BATCH };
        }
    }
}

unsafe fn file(descriptor: c_int) -> File {
    let mut stat = sys::Stat::default();
    // SAFETY: the structure is valid for writing.
    let open = unsafe { sys::fstat(descriptor, &mut stat) == 0 };
    open.then_some((stat.device, stat.inode))
}

/// Whether the descriptors to the driver are what they were: programs close those that they do not know, or put others in their
/// place.
unsafe fn line_remains() -> bool {
    // SAFETY: see `again`.
    unsafe {
        let line = BATCH.line;
        LINE.iter().zip(line).all(|(descriptor, then)| then.is_some() && file(*descriptor) == then)
    }
}

/// Where a run begins. Returns again for each further input of a process that is rewound.
pub unsafe fn begin() {
    // SAFETY: called on the main thread, before the program goes on.
    unsafe {
        if BATCH.progress.is_null() || !snapshot::is_possible() {
            return;
        }
        let free = sys::dup(0);
        if free > 0 {
            sys::close(free);
            BATCH.free_descriptor = free;
            copy_streams();
            watch_crashes();
            snapshot::begin();
        }
    }
}

/// Signals by which programs end themselves. After a bad memory access nobody knows what else was written, so that such
/// a process ends.
const CRASHES: [c_int; 4] = [sys::SIGILL, sys::SIGTRAP, sys::SIGABRT, sys::SIGFPE];

/// How a process begins again after a crash; set by [`watch_exit`].
static mut CRASHED: Option<unsafe extern "C" fn(c_int)> = None;

/// Lets the process begin again after crashes, but for those that the program handles itself.
unsafe fn watch_crashes() {
    // SAFETY: the structures are valid; the handler is there for as long as the program is.
    unsafe {
        let Some(handler) = CRASHED else { return };
        for signal in CRASHES {
            let mut present = sys::SigAction::default();
            if sys::sigaction(signal, null_mut(), &mut present) == 0 && present.handler == 0 {
                sys::sigaction(signal, &sys::SigAction::calling(handler), null_mut());
            }
        }
    }
}

/// The program crashed. Returns if the process has to end, which it then does by the same signal.
unsafe extern "C" fn crashes<L: Labels>(signal: c_int) {
    // SAFETY: as for `exits`; nothing that is called here waits for a lock that the program could hold.
    unsafe {
        L::end();
        if may_go_on() {
            begin_again::<L>(signal);
        }
        sys::sigaction(signal, &sys::SigAction::default(), null_mut());
        sys::kill(sys::getpid(), signal);
    }
}

/// Makes processes that may take further inputs begin again at their exit. Called before the program's own code, so
/// that whatever it does at its exit is done before.
pub unsafe fn watch_exit<L: Labels>() {
    // SAFETY: the handlers are there for as long as the program is.
    unsafe {
        sys::on_exit(exits::<L>, null_mut());
        CRASHED = Some(crashes::<L>);
    }
}

/// The program exits. Returns if the process has to end.
unsafe extern "C" fn exits<L: Labels>(code: c_int, _: *mut c_void) {
    // SAFETY: `exit` calls this on the thread that exits; other threads end the batch.
    unsafe {
        L::end();
        if goes_on() {
            begin_again::<L>((code & 0xff) << 8);
        }
    }
}

/// Reports the end of the run, and lets the process begin again. Returns if it cannot.
unsafe fn begin_again<L: Labels>(wait_status: c_int) {
    // SAFETY: as for `exits`.
    unsafe {
        if BATCH.free_descriptor == 0 || !descriptors_remain() {
            return;
        }
        let usage = used();
        if !has_room(&usage) {
            return;
        }
        let Some(kept) = L::forget() else { return };
        if report(&usage, wait_status) {
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
        await_command();
    }
}

/// The standard streams, which programs close at their exit, or open anew.
const STREAMS: [c_int; 3] = [0, 1, 2];

unsafe fn copy_streams() {
    for stream in STREAMS {
        // SAFETY: descriptors touch no memory; one that is not open has no copy.
        unsafe { sys::dup3(stream, SERVER_FDS.copies + stream, sys::O_CLOEXEC) };
    }
}

/// Those that were open when the run began are again what they were.
unsafe fn restore_streams() {
    for stream in STREAMS {
        // SAFETY: as above.
        unsafe { sys::dup3(SERVER_FDS.copies + stream, stream, 0) };
    }
}

/// Closes what the program opened; false if it closed what was open.
unsafe fn descriptors_remain() -> bool {
    // SAFETY: descriptors touch no memory.
    unsafe {
        restore_streams();
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
    unsafe { if BATCH.progress.is_null() { 0 } else { (*BATCH.progress).inputs.wrapping_add(1) } }
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
        let usage = used();
        if !has_room(&usage) || !forget() || !report(&usage, 0) {
            return false;
        }
        await_command();
        __fpurge(stdin);
        clearerr(stdin);
        true
    }
}

/// Whether this process may take further inputs. What it printed is printed then.
unsafe fn goes_on() -> bool {
    // SAFETY: see `again`.
    unsafe {
        let may = may_go_on();
        if may {
            fflush(null_mut());
        }
        may
    }
}

unsafe fn may_go_on() -> bool {
    // SAFETY: see `again`.
    unsafe {
        let own = !BATCH.progress.is_null() && BATCH.process == sys::getpid();
        own && !has_children() && line_remains()
    }
}

/// Counts a run; false if the process has had its share.
unsafe fn has_room(usage: &sys::Usage) -> bool {
    // SAFETY: see `again`.
    unsafe {
        let inputs = (*BATCH.progress).inputs.wrapping_add(1);
        let max_rss_kib = usage.max_rss_kib.max(0) as u64;
        if inputs == 1 {
            BATCH.first_rss_kib = max_rss_kib;
        }
        inputs < MOST_RUNS && max_rss_kib <= BATCH.first_rss_kib.wrapping_add(MOST_GROWTH)
    }
}

unsafe fn has_children() -> bool {
    let options = sys::WEXITED | sys::WNOHANG | sys::WNOWAIT;
    // SAFETY: without a place for it, nothing is written.
    unsafe { sys::waitid(sys::P_ALL, 0, null_mut(), options) == 0 || sys::errno() != sys::ECHILD }
}

unsafe fn used() -> sys::Usage {
    let mut usage = sys::Usage::default();
    // SAFETY: the structure is valid for writing.
    unsafe { sys::getrusage(sys::RUSAGE_SELF, &mut usage) };
    usage
}

/// Tells the driver that the run is over; false if it cannot be told.
unsafe fn report(usage: &sys::Usage, wait_status: c_int) -> bool {
    // SAFETY: the memory is there as long as the process; a report has no padding.
    unsafe {
        let progress = &mut *BATCH.progress;
        let cpu_time_us = usage.cpu_time_us();
        let report = Report {
            kind: DONE,
            wait_status,
            max_rss_kib: usage.max_rss_kib.clamp(0, i64::from(u32::MAX)) as u32,
            run_time_us: now_us().saturating_sub(progress.started_us),
            cpu_time_us: cpu_time_us.saturating_sub(progress.cpu_before_us),
            shared: 1,
            number: progress.command.number,
            ..Report::default()
        };
        progress.state = Progress::WAITS;
        if !send(SERVER_FDS.reports, &report) {
            progress.state = Progress::RUNS;
            return false;
        }
        progress.inputs = progress.inputs.wrapping_add(1);
        progress.cpu_before_us = cpu_time_us;
        true
    }
}

/// Waits for the next command, and begins it. One for a process of its own is left to the server.
unsafe fn await_command() {
    // SAFETY: as for `report`.
    unsafe {
        let next = peek(SERVER_FDS.commands).filter(|command| command.may_share == 1);
        let Some(command) = next.and_then(|_| receive(SERVER_FDS.commands)) else { sys::_exit(0) };
        let progress = &mut *BATCH.progress;
        (progress.command, progress.started_us) = (command, now_us());
        progress.state = Progress::RUNS;
        if BATCH.input_is_stdin {
            sys::lseek(0, 0, 0);
        }
    }
}
