//! Several inputs in one process: the run's side.
//!
//! A program with a loop over inputs (the `main` of libFuzzer harnesses, AFL++'s persistent mode)
//! calls [`again`] at the end of each round. If the driver lets runs share a process, the call
//! reports the end of the run, and returns once the next input lies ready. What the program keeps
//! between rounds is its own, but nothing else may pass from one run to the next.
//!
//! Any other program is restored when it exits or crashes ([`snapshot`]), and begins again with the
//! next input.
//!
//! While such a process lives, it takes commands from the driver and reports by itself: waking the
//! server for each would cost as much as a short run. The server sees from the shared
//! [`Progress`](trace::server::Progress) how long the present command may take.
//!
//! Whatever is unusual ends the process instead, as without a server, and the next input gets a new
//! one.

use crate::process::process;
use crate::progress::SharedProgress;
use crate::supervise::{now_us, peek, receive, send};
use crate::{snapshot, sys};
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use trace::SERVER_FDS;
use trace::server::{DONE, Report};

/// Inputs that a process takes at most: what a program leaks adds up.
const MAX_RUNS: u32 = 1000;
/// Memory in KiB by which a process may grow.
const MAX_GROWTH: u32 = 64 << 10;

/// Of a process that may take several inputs.
#[derive(Clone, Copy)]
struct Batch {
    progress: SharedProgress,
    /// The process that may take them. Children of the program may not.
    process: c_int,
    input_is_stdin: bool,
    /// The lowest descriptor that was free when the run began; `None` if the process cannot be
    /// restored.
    free_descriptor: Option<c_int>,
    /// The files that [`LINE`] stood for when the process began.
    line: [Identity; LINE.len()],
}

/// Device and inode of an open descriptor.
type Identity = Option<(u64, u64)>;

/// The descriptors without which a process cannot take further inputs.
const LINE: [c_int; 2] = [SERVER_FDS.commands, SERVER_FDS.reports];

type CrashHandler = unsafe extern "C" fn(c_int);

/// The part of [`Process`](crate::process::Process) that this module owns.
pub(crate) struct State {
    /// `None` if the process has one input only. Does not change while the program runs.
    batch: Cell<Option<Batch>>,
    /// How a process begins again after a crash.
    crash_handler: Cell<Option<CrashHandler>>,
    /// The program has a loop over inputs: it is not restored when it leaves the loop.
    loops: AtomicBool,
    /// Largest resident set at the end of the first run; 0 before.
    first_rss_kib: AtomicU32,
}

impl State {
    pub const fn new() -> State {
        State {
            batch: Cell::new(None),
            crash_handler: Cell::new(None),
            loops: AtomicBool::new(false),
            first_rss_kib: AtomicU32::new(0),
        }
    }
}

/// What belongs to one run besides the program's memory.
pub trait RunState {
    /// What outlives the restoring of a process.
    type Kept: Copy;

    /// The program ends, whether or not the process does.
    ///
    /// # Safety
    /// The calling thread must be the one that exits or crashes, in its handler for that.
    unsafe fn end();

    /// Forgets the run; `None` if the process cannot take another one, for instance because it has
    /// further threads.
    ///
    /// # Safety
    /// As for [`RunState::end`], which must have been called before.
    unsafe fn reset() -> Option<Self::Kept>;

    /// Puts back what [`RunState::reset`] kept.
    ///
    /// # Safety
    /// The program's memory must be as it was where the run began, and none of its code may run.
    unsafe fn restore(kept: Self::Kept);
}

/// Makes processes that may take further inputs begin again at their exit, and where crashes are
/// watched ([`begin`]), at these. Called before the program's own code, so that whatever it does at
/// its exit is done before.
///
/// # Safety
/// The process must have one thread. The functions of `R` may be called when the program exits or
/// crashes.
pub unsafe fn watch_exit<R: RunState>() {
    // SAFETY: the handler is part of the program, and fit to be called at its exit.
    unsafe { sys::on_exit(exits::<R>, null_mut()) };
    process().batch.crash_handler.set(Some(crashes::<R>));
}

/// A run begins in a process of its own, which may take further inputs if it shares its progress.
///
/// # Safety
/// The process must be a child that has just been forked.
pub(crate) unsafe fn enter(progress: Option<SharedProgress>, input_is_stdin: bool) {
    let batch = progress.map(|progress| Batch {
        progress,
        process: sys::getpid(),
        input_is_stdin,
        free_descriptor: None,
        line: LINE.map(identity),
    });
    process().batch.batch.set(batch);
}

fn identity(descriptor: c_int) -> Identity {
    sys::stat(descriptor).map(|stat| (stat.device, stat.inode))
}

/// Where a run begins. Returns again for each further input of a process that is restored.
///
/// # Safety
/// Must be called once, on the only thread of a process in which [`serve`](crate::server::serve)
/// has just returned.
pub unsafe fn begin() {
    let state = &process().batch;
    let Some(batch) = state.batch.get().filter(|_| snapshot::is_possible()) else { return };
    let free = sys::dup(0);
    if free <= 0 {
        return;
    }
    // SAFETY: the descriptor was made just now, and nobody else knows of it.
    unsafe { sys::close(free) };
    state.batch.set(Some(Batch { free_descriptor: Some(free), ..batch }));
    copy_streams();
    watch_crashes();
    // SAFETY: a snapshot is possible, and this is the only thread.
    unsafe { snapshot::take() };
}

/// Signals by which programs end themselves. After a bad memory access nobody knows what else was
/// written, so that such a process ends.
const CRASHES: [c_int; 4] = [sys::SIGILL, sys::SIGTRAP, sys::SIGABRT, sys::SIGFPE];

/// Lets the process begin again after crashes, but for those that the program handles itself.
fn watch_crashes() {
    let Some(handler) = process().batch.crash_handler.get() else { return };
    for signal in CRASHES {
        if sys::action_at(signal).is_some_and(|action| action.is_default()) {
            // SAFETY: at these signals the process would end: the handler interrupts nothing that
            // goes on afterwards, and waits for no lock that the program could hold.
            unsafe { sys::set_action_at(signal, &sys::SigAction::calling(handler)) };
        }
    }
}

/// The program crashed. Returns if the process has to end, which it then does by the same signal.
unsafe extern "C" fn crashes<R: RunState>(signal: c_int) {
    // SAFETY: this is the handler of the thread that crashed.
    unsafe {
        R::end();
        if let Some(batch) = batch_to_continue() {
            begin_again::<R>(&batch, signal);
        }
    }
    // SAFETY: the default action calls no handler.
    unsafe { sys::set_action_at(signal, &sys::SigAction::default()) };
    sys::kill(sys::getpid(), signal);
}

/// The program exits. Returns if the process has to end.
unsafe extern "C" fn exits<R: RunState>(code: c_int, _: *mut c_void) {
    // SAFETY: `exit` calls this on the thread that exits.
    unsafe {
        R::end();
        if let Some(batch) = batch_to_continue() {
            sys::flush_streams();
            begin_again::<R>(&batch, (code & 0xff) << 8);
        }
    }
}

/// Reports the end of the run, and lets the process begin again. Returns if it cannot.
///
/// # Safety
/// As for [`RunState::reset`].
unsafe fn begin_again<R: RunState>(batch: &Batch, wait_status: c_int) {
    let state = &process().batch;
    let Some(free) = batch.free_descriptor.filter(|_| !state.loops.load(Relaxed)) else { return };
    // SAFETY: the program has ended, and uses none of its descriptors any more.
    if !unsafe { restore_descriptors(free) } {
        return;
    }
    let usage = sys::Usage::of_this_process();
    if !has_room(batch, &usage) {
        return;
    }
    // SAFETY: the caller's.
    let Some(kept) = (unsafe { R::reset() }) else { return };
    if report(batch, &usage, wait_status) {
        let first_rss_kib = state.first_rss_kib.load(Relaxed);
        // SAFETY: `free_descriptor` is set right before a snapshot is taken. Where `reset`
        // succeeds, the process has no further threads.
        unsafe { snapshot::restore((first_rss_kib, kept), begins_again::<R>) };
    }
}

/// The process is as it was where the run began; what it knows of its earlier runs is put back.
unsafe extern "C" fn begins_again<R: RunState>(kept: *const (u32, R::Kept)) {
    // SAFETY: `snapshot::restore` passes a valid pointer.
    let (first_rss_kib, run) = unsafe { *kept };
    // SAFETY: it does so once the program's memory is restored, and before the program goes on.
    unsafe { R::restore(run) };
    let state = &process().batch;
    state.first_rss_kib.store(first_rss_kib, Relaxed);
    match state.batch.get() {
        Some(batch) => await_command(&batch),
        None => sys::_exit(0),
    }
}

/// The standard streams, which programs close at their exit, or open anew.
const STREAMS: [c_int; 3] = [0, 1, 2];

fn copy_streams() {
    for stream in STREAMS {
        // SAFETY: the numbers of copies are the runtime's own; a stream that is not open has none.
        unsafe { sys::dup3(stream, SERVER_FDS.copies + stream, sys::O_CLOEXEC) };
    }
}

/// Makes the standard streams what they were, and closes what the program opened; false if it
/// closed what was open when the run began, below `free`.
///
/// # Safety
/// The program must not use its descriptors any more.
unsafe fn restore_descriptors(free: c_int) -> bool {
    for stream in STREAMS {
        // SAFETY: whatever the program opened under this number, it is done with it.
        unsafe { sys::dup3(SERVER_FDS.copies + stream, stream, 0) };
    }
    let lowest = sys::dup(0);
    if lowest < free {
        return false;
    }
    // SAFETY: the first was made just now; the others are the program's, and below the server's.
    unsafe {
        sys::close(lowest);
        sys::close_range(free, SERVER_FDS.segment - 1)
    }
}

/// How many inputs this process has had, the present one included, if it may have more; otherwise
/// 0.
pub fn round() -> u32 {
    process().batch.batch.get().map_or(0, |batch| round_of(&batch))
}

fn round_of(batch: &Batch) -> u32 {
    batch.progress.read().inputs.wrapping_add(1)
}

/// The program is done with its input. Forgets the run (`reset` says whether that is possible), and
/// waits for the next input; false if there is none for this process.
///
/// # Safety
/// The program must not have closed the stream `stdin`.
pub unsafe fn again(reset: impl FnOnce() -> bool) -> bool {
    process().batch.loops.store(true, Relaxed);
    let Some(batch) = batch_to_continue() else { return false };
    sys::flush_streams();
    let usage = sys::Usage::of_this_process();
    if !has_room(&batch, &usage) || !reset() || !report(&batch, &usage, 0) {
        return false;
    }
    await_command(&batch);
    // SAFETY: the caller says that the stream is open.
    unsafe { sys::reset_stdin() };
    true
}

/// `None` unless this process may take further inputs.
fn batch_to_continue() -> Option<Batch> {
    let batch = process().batch.batch.get()?;
    let own = batch.process == sys::getpid();
    (own && !has_children() && line_remains(&batch)).then_some(batch)
}

/// Whether the descriptors to the driver are what they were: programs close those that they do not
/// know, or put others in their place.
fn line_remains(batch: &Batch) -> bool {
    let mut descriptors = LINE.into_iter().zip(batch.line);
    descriptors.all(|(descriptor, then)| then.is_some() && identity(descriptor) == then)
}

fn has_children() -> bool {
    let options = sys::WEXITED | sys::WNOHANG | sys::WNOWAIT;
    sys::wait_id(sys::P_ALL, 0, None, options) == 0 || sys::errno() != sys::ECHILD
}

/// Whether the process has not had its share yet.
fn has_room(batch: &Batch, usage: &sys::Usage) -> bool {
    let first = &process().batch.first_rss_kib;
    let round = round_of(batch);
    if round == 1 {
        first.store(usage.max_rss_kib(), Relaxed);
    }
    let max_rss_kib = first.load(Relaxed).saturating_add(MAX_GROWTH);
    round < MAX_RUNS && usage.max_rss_kib() <= max_rss_kib
}

/// Tells the driver that the run is over; false if it cannot be told.
fn report(batch: &Batch, usage: &sys::Usage, wait_status: c_int) -> bool {
    let progress = batch.progress.read();
    let cpu_time_us = usage.cpu_time_us();
    let report = Report {
        kind: DONE,
        wait_status,
        max_rss_kib: usage.max_rss_kib(),
        run_time_us: now_us().saturating_sub(progress.started_us),
        cpu_time_us: cpu_time_us.saturating_sub(progress.cpu_before_us),
        shared: 1,
        number: progress.command.number,
        ..Report::default()
    };
    batch.progress.wait();
    let sent = send(SERVER_FDS.reports, &report);
    match sent {
        true => batch.progress.finish(cpu_time_us),
        false => batch.progress.resume(),
    }
    sent
}

/// Waits for the next command, and begins it. One for a process of its own is left to the server.
fn await_command(batch: &Batch) {
    let next = peek(SERVER_FDS.commands).filter(|command| command.may_share == 1);
    let Some(command) = next.and_then(|_| receive(SERVER_FDS.commands)) else { sys::_exit(0) };
    batch.progress.begin(command, now_us());
    if batch.input_is_stdin {
        sys::lseek(0, 0, 0);
    }
}
