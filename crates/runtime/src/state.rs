//! What the runtime knows of the current run.
//!
//! There is one [`State`] a process. It is written before the target's `main` starts and then only under the
//! runtime's own guard ([`enter`]), so threads and signal handlers of the target never see it half-written.

use crate::{events, os};
use trace::{GiveUp, Header, slots};

pub struct State {
    /// The shared segment; null when the target runs without Tarragon.
    pub header: *mut Header,
    /// Input bytes get labels in this run.
    pub symbolic: bool,
    /// The target has started a thread: take the lock.
    pub threaded: bool,
    pub input_len: u32,
    /// A byte for each of the input, not 0 where it is symbolic; null if all of the input is, its length included.
    pub holes: *const u8,
    pub nodes: *mut trace::Node,
    pub values: *mut u64,
    pub node_cap: u32,
    pub events: *mut trace::Event,
    pub event_cap: u32,
    pub lock: u32,
}

pub static mut STATE: State = State {
    header: core::ptr::null_mut(),
    symbolic: false,
    threaded: false,
    input_len: 0,
    holes: core::ptr::null(),
    nodes: core::ptr::null_mut(),
    values: core::ptr::null_mut(),
    node_cap: 0,
    events: core::ptr::null_mut(),
    event_cap: 0,
    lock: 0,
};

/// Nothing is symbolic in this run, so that functions run in their concrete versions. Not so before the first run begins: functions
/// that are active then may see runs of both kinds.
pub static mut CONCRETE: bool = false;

/// Asked at the entry of functions that have a concrete version.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_is_concrete() -> u32 {
    unsafe { u32::from(CONCRETE) }
}

/// The functions that are called from here on keep no labels, or do again, in the middle of a run: only around those that write no memory, so that
/// no label becomes void. Returns whether that was so. Not with threads, which all see it.
pub unsafe fn run_concretely(concretely: bool) -> bool {
    unsafe {
        if STATE.threaded && !CONCRETE {
            return false;
        }
        let tls = os::tls();
        ((*tls).args_in_flight, (*tls).results) = (0, [0; slots::RESULTS]);
        core::mem::replace(&mut CONCRETE, concretely)
    }
}

/// Labels of arguments and results on their way between instrumented functions, one block a thread.
///
/// Invariant: `args` are in flight (and `args_in_flight` is not 0) only between a call instruction and the
/// entry of the callee.
#[repr(C)]
pub struct Tls {
    pub args_in_flight: u32,
    /// This thread is inside the runtime.
    pub busy: u32,
    /// Site of the call of a model.
    pub site: u32,
    /// Bytes of `varargs` in flight; 0 if all variadic arguments are concrete.
    pub varargs_in_flight: u32,
    /// Where the caller keeps the structs that it passes by value.
    pub structs: [usize; slots::STRUCTS],
    /// How many of `stack` are in use.
    pub stack_len: u32,
    /// Start and size of arrays in the frames of the functions that run, innermost last.
    pub stack: [[usize; 2]; Tls::STACK],
    pub results: [u32; slots::RESULTS],
    pub args: [u32; slots::ARGS],
    /// Labels by offset in the register save area and, from 176 on, the stack area of the x86-64 calling convention,
    /// one every 8 bytes.
    pub varargs: [u32; slots::VARARGS],
}

impl Tls {
    pub const STACK: usize = 128;

    pub const EMPTY: Tls = Tls {
        args_in_flight: 0,
        busy: 0,
        site: 0,
        varargs_in_flight: 0,
        structs: [0; slots::STRUCTS],
        stack_len: 0,
        stack: [[0; 2]; Tls::STACK],
        results: [0; slots::RESULTS],
        args: [0; slots::ARGS],
        varargs: [0; slots::VARARGS],
    };
}

const _: () = assert!(size_of::<Tls>() <= trace::TLS_BYTES, "the instrumenter reserves less");

/// A guard on the runtime's state.
pub struct Entered;

/// Enters the runtime, or answers `None` where a signal handler interrupted the runtime on this thread.
#[inline(always)]
pub unsafe fn enter() -> Option<Entered> {
    unsafe {
        let tls = os::tls();
        if (*tls).busy != 0 {
            return None;
        }
        (*tls).busy = 1;
        if STATE.threaded {
            lock();
        }
        Some(Entered)
    }
}

impl Drop for Entered {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: this thread entered the runtime, so the lock (if there are threads) is its own.
        unsafe {
            if STATE.threaded {
                unlock();
            }
            (*os::tls()).busy = 0;
        }
    }
}

#[cold]
unsafe fn lock() {
    use core::sync::atomic::{AtomicU32, Ordering};
    unsafe {
        let lock = AtomicU32::from_ptr(&raw mut STATE.lock);
        while lock.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            os::sched_yield();
        }
    }
}

#[cold]
unsafe fn unlock() {
    use core::sync::atomic::{AtomicU32, Ordering};
    unsafe { AtomicU32::from_ptr(&raw mut STATE.lock).store(0, Ordering::Release) }
}

/// Counts symbolic data that was dropped.
#[cold]
pub unsafe fn count_give_up(reason: GiveUp) {
    unsafe {
        if !STATE.header.is_null() {
            let counter = &raw mut (*STATE.header).give_ups[reason as usize & 31];
            *counter = (*counter).wrapping_add(1);
        }
    }
}

/// True while input bytes have labels.
#[inline(always)]
pub unsafe fn active() -> bool {
    unsafe { STATE.symbolic }
}

/// Stops recording in this process: it is a child of the target, and the trace belongs to its parent.
pub unsafe fn deactivate() {
    unsafe {
        STATE.symbolic = false;
        STATE.node_cap = 0;
        STATE.event_cap = 0;
        events::start();
        if !STATE.header.is_null() {
            count_give_up(GiveUp::ForkedChild);
        }
    }
}
