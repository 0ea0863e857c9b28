//! What happens outside of the code that is followed.
//!
//! Functions without a model get memory that has labels, read the input themselves, or start other
//! programs; data goes into files and pipes and comes back. None of it has expressions, so it is
//! counted as given up, with the number of the function, and stands against claims of completeness.
//!
//! Here is who reads the input, which is seen from its descriptors ([`descriptors`]): they stand
//! further ahead after the call than before, and no model was there in between. That asks nothing
//! of the code that reads. What moves no descriptor (`mmap`, `pread`) is found in the program
//! before the C library. A function that opens the input by its name is seen when it gets that
//! name, among the memory that functions get ([`lent`]) and what they can reach from it (`reach`).
//! Calls and returns across the border are in [`crossings`]. Data that leaves and comes back is in
//! [`output`].

pub mod crossings;
pub mod descriptors;
pub mod lent;
pub mod output;
mod reach;
mod unknown;

use crate::input::{given_by, was_read_before};
use crate::state::models;
use crate::stdio;
use core::arch::asm;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use descriptors::{Descriptors, watch, watch_stream};
use lent::Loans;
use output::Output;
use runtime_core::state::{self, Entered, Run, active};
use runtime_core::{events, os};
use trace::{GiveUp, flags};

/// What is known of it in this run. Functions are known by their numbers.
pub struct Outside {
    descriptors: Descriptors,
    output: Output,
    loans: Loans,
    /// It is known where the input comes from.
    is_prepared: Cell<bool>,
    /// The input can only be opened by its name.
    has_name: Cell<bool>,
    /// The function without a model that was called last and did not return yet.
    called: Cell<Option<u32>>,
    /// Where the last one was called.
    site: Cell<u32>,
    /// How many of them have been called and did not return, as far as is known.
    depth: Cell<u32>,
    /// What is below is in frames of the last one and of what it calls; 0 if that is not known.
    border: Cell<usize>,
    /// The first such function of the run.
    first: Cell<Option<u32>>,
    /// A model used the input since the descriptors were looked at.
    has_moved: Cell<bool>,
    /// A model used the input at all.
    was_used: Cell<bool>,
    /// Objects that may still be looked at for what hangs on them.
    looks: Cell<u32>,
}

impl Outside {
    pub const NEW: Outside = Outside {
        descriptors: Descriptors::NEW,
        output: Output::NEW,
        loans: Loans::NEW,
        is_prepared: Cell::new(false),
        has_name: Cell::new(false),
        called: Cell::new(None),
        site: Cell::new(0),
        depth: Cell::new(0),
        border: Cell::new(0),
        first: Cell::new(None),
        has_moved: Cell::new(false),
        was_used: Cell::new(false),
        looks: Cell::new(reach::MAX_LOOKS),
    };

    /// A run ends.
    pub fn reset(&self) {
        self.descriptors.reset();
        self.output.reset();
        self.loans.reset();
        self.is_prepared.set(false);
        self.has_name.set(false);
        self.called.set(None);
        self.site.set(0);
        self.depth.set(0);
        self.border.set(0);
        self.first.set(None);
        self.has_moved.set(false);
        self.was_used.set(false);
        self.looks.set(reach::MAX_LOOKS);
    }

    /// Whether code that is not followed has called what runs.
    fn is_active(&self) -> bool {
        self.depth.get() != 0
    }

    /// Such a function goes on: what the program read meanwhile is not its doing.
    fn go_on(&self) {
        self.has_moved.set(false);
        self.descriptors.were_read(false);
    }

    /// It has returned, or was left.
    fn leave(&self) {
        self.called.set(None);
        self.border.set(0);
        self.depth.update(|depth| depth.saturating_sub(1));
    }
}

/// In place of a function's number: nobody knows which it was.
const UNKNOWN: u32 = trace::UNKNOWN_FUNCTION;

#[inline(always)]
fn known() -> &'static Outside {
    &models().outside
}

/// The guard, in runs with labels.
#[inline(always)]
fn enter(run: &Run) -> Option<Entered> {
    if active(run) { state::enter(run) } else { None }
}

/// Does something without the program seeing it in `errno`.
fn keeping_errno<T>(work: impl FnOnce() -> T) -> T {
    let place = os::errno();
    // SAFETY: the C library keeps the variable as long as this thread runs.
    let errno = unsafe { place.read() };
    let result = work();
    // SAFETY: as above.
    unsafe { place.write(errno) };
    result
}

/// A model is about to use the input, or just did.
#[inline(always)]
pub fn note_model() {
    let known = known();
    known.has_moved.set(true);
    known.was_used.set(true);
}

/// Before the first call of a run: where the input comes from.
fn prepare(run: &Run) {
    let known = known();
    if known.is_prepared.replace(true) {
        return;
    }
    if was_read_before(run) {
        events::give_up(run, GiveUp::InputTaken, 0, UNKNOWN);
    }
    let is_stdin = given_by(run, 0).is_some();
    known.has_name.set(!is_stdin && !run.segment.has_flag(flags::WORDS));
    if is_stdin {
        // SAFETY: the C library's variable leads to a stream, and models tell when that is closed.
        unsafe { watch_stream(0, stdio::stdin) };
    }
}

/// Called where runs begin: constructors may have used the standard input without a model.
pub fn note_constructors() {
    unsafe extern "C" {
        fn __fbufsize(stream: *mut stdio::Stream) -> usize;
    }
    // SAFETY: the C library's variable leads to a stream, which has a buffer once it was used.
    let has_buffer = || unsafe { !stdio::stdin.is_null() && __fbufsize(stdio::stdin) != 0 };
    let was_used = keeping_errno(|| os::lseek(0, 0, os::SEEK_CUR) > 0 || has_buffer());
    if was_used && let Some(file) = os::file_identity(0) {
        models().read_before.set(Some(file));
    }
}

/// Counts it if the function has read the input, with the guard held.
fn check(run: &Run, function: u32) {
    let known = known();
    let has_moved = known.has_moved.replace(false);
    let was_read = known.descriptors.were_read(function != UNKNOWN);
    if was_read && !has_moved {
        events::give_up(run, GiveUp::InputTaken, known.site.get(), function);
    }
}

/// As [`check`] of the function that was called last, if it did not return.
fn check_called(run: &Run) {
    check(run, known().called.get().unwrap_or(UNKNOWN));
}

/// Where the frame of the function ends that this is inlined into.
#[inline(always)]
fn border() -> usize {
    let border;
    // SAFETY: this reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) border, options(nomem, nostack, preserves_flags)) };
    border
}

/// A function without a model is about to be called.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_outside(function: u32, site: u32) {
    __tg_outside(function, site, border());
}

/// The same, of a function whose frame ends at `border`.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_outside(function: u32, site: u32, border: usize) {
    let run = Run::current();
    let Some(_entered) = enter(run) else { return };
    prepare(run);
    check_called(run);
    let known = known();
    known.called.set(Some(function));
    known.site.set(site);
    known.depth.update(|depth| depth.saturating_add(1));
    known.border.set(border);
    if known.first.get().is_none() {
        known.first.set(Some(function));
    }
}

/// It has returned.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_back(function: u32) {
    let run = Run::current();
    let Some(_entered) = enter(run) else { return };
    check(run, function);
    known().leave();
}

/// An exception was caught: it did not return.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_caught() {
    let run = Run::current();
    let Some(function) = known().called.get() else { return };
    let Some(_entered) = enter(run) else { return };
    check(run, function);
    known().leave();
}

/// The run ends. Reading an empty input moves nothing: where no model asked for the input,
/// functions without one may have.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_ends() {
    let run = Run::current();
    let Some(_entered) = enter(run) else { return };
    prepare(run);
    check_called(run);
    let known = known();
    let may_be_unseen = !known.was_used.get() && run.segment.input_len() == 0;
    if let Some(first) = known.first.take()
        && may_be_unseen
        && known.descriptors.any()
    {
        events::give_up(run, GiveUp::InputTaken, known.site.get(), first);
    }
}

/// Another program is started: it inherits the descriptors of this one.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_child(function: u32, site: u32) {
    let run = Run::current();
    let Some(_entered) = enter(run) else { return };
    events::give_up(run, GiveUp::OtherProgram, site, function);
}

/// The C library keeps memory of the program, or calls it later without a name: what is there by
/// then nobody sees.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_keeps(function: u32, site: u32) {
    let run = Run::current();
    let Some(_entered) = enter(run) else { return };
    events::give_up(run, GiveUp::External, site, function);
}

/// A function has returned a descriptor.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_opened(fd: c_int) {
    let run = Run::current();
    if !active(run) {
        return;
    }
    output::note_redirected(fd);
    if given_by(run, fd).is_some() {
        watch(fd);
    }
}

/// The descriptor was read in a way that does not move it.
fn note_taken(run: &Run, fd: c_int) {
    if active(run)
        && given_by(run, fd).is_some()
        && let Some(_entered) = state::enter(run)
    {
        let known = known();
        let function = known.called.get().unwrap_or(UNKNOWN);
        events::give_up(run, GiveUp::InputTaken, known.site.get(), function);
    }
}

/// In place of the C library's `mmap`, for code without bitcode. Models do not come here.
///
/// # Safety
/// As for `mmap`: a fixed mapping replaces only what is the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_own_mmap(
    at: *mut c_void,
    size: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    const MAP_ANONYMOUS: c_int = 0x20;
    // SAFETY: the caller's promise.
    let result = unsafe { os::map_file(at, size, protection, flags, fd, offset) };
    if flags & MAP_ANONYMOUS == 0 && result as isize != -1 {
        note_taken(Run::current(), fd);
    }
    result
}

/// The same for `pread`.
///
/// # Safety
/// The `size` bytes are the caller's to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_own_pread(
    fd: c_int,
    bytes: *mut c_void,
    size: usize,
    offset: i64,
) -> isize {
    // SAFETY: the caller's promise.
    let got = unsafe { os::read_at(fd, bytes, size, offset) };
    if got >= 0 {
        note_taken(Run::current(), fd);
    }
    got
}
