//! What each thread of the target has for itself: labels of arguments and results on their way
//! between instrumented functions, and the arrays in the frames of those that run.

use core::cell::Cell;
use trace::slots;

/// The block of a thread, all zeros when the thread starts.
///
/// Invariant: `args` are in flight (and `args_in_flight` is not 0) only between a call instruction
/// and the entry of the callee.
#[repr(C)]
pub struct Tls {
    pub args_in_flight: Cell<u32>,
    /// This thread is inside the runtime.
    pub busy: Cell<u32>,
    /// Site of the call of a model.
    pub site: Cell<u32>,
    /// Bytes of `varargs` in flight; 0 if all variadic arguments are concrete.
    pub varargs_in_flight: Cell<u32>,
    /// Where the caller keeps the structs that it passes by value.
    pub structs: [Cell<usize>; slots::STRUCTS],
    /// How many of `stack` are in use.
    pub stack_len: Cell<u32>,
    /// Start and size of arrays in the frames of the functions that run, innermost last.
    pub stack: [Cell<[usize; 2]>; Tls::STACK],
    pub results: [Cell<u32>; slots::RESULTS],
    pub args: [Cell<u32>; slots::ARGS],
    /// Labels by offset in the register save area and, from 176 on, the stack area of the x86-64
    /// calling convention, one every 8 bytes.
    pub varargs: [Cell<u32>; slots::VARARGS],
}

impl Tls {
    pub const STACK: usize = 128;

    pub const EMPTY: Tls = Tls {
        args_in_flight: Cell::new(0),
        busy: Cell::new(0),
        site: Cell::new(0),
        varargs_in_flight: Cell::new(0),
        structs: [const { Cell::new(0) }; slots::STRUCTS],
        stack_len: Cell::new(0),
        stack: [const { Cell::new([0; 2]) }; Tls::STACK],
        results: [const { Cell::new(0) }; slots::RESULTS],
        args: [const { Cell::new(0) }; slots::ARGS],
        varargs: [const { Cell::new(0) }; slots::VARARGS],
    };
}

const _: () = assert!(size_of::<Tls>() <= trace::TLS_BYTES, "the instrumenter reserves less");

#[cfg(not(any(test, feature = "testing")))]
unsafe extern "C" {
    /// Defined by the instrumenter: the address of this thread's [`Tls`].
    safe fn __tarragon_tls() -> *const Tls;
}

/// The block of this thread.
#[cfg(not(any(test, feature = "testing")))]
#[inline(always)]
pub fn tls() -> &'static Tls {
    // SAFETY: the instrumenter reserves `TLS_BYTES` for each thread, zeroed and aligned, which are
    // there as long as the thread runs; the reference cannot go to another thread.
    unsafe { &*__tarragon_tls() }
}

#[cfg(any(test, feature = "testing"))]
pub fn tls() -> &'static Tls {
    std::thread_local! {
        static BLOCK: Tls = const { Tls::EMPTY };
    }
    // SAFETY: as for the block of the instrumenter; tests keep no reference until their thread
    // ends.
    BLOCK.with(|block| unsafe { &*core::ptr::from_ref(block) })
}

/// No label is on its way between functions any more, but those of structs and variadic arguments.
pub fn drop_labels_in_flight() {
    let tls = tls();
    tls.args_in_flight.set(0);
    tls.results.iter().for_each(|result| result.set(0));
}

/// A run ends: no label of it is on its way any more.
pub fn reset() {
    drop_labels_in_flight();
    let tls = tls();
    tls.varargs_in_flight.set(0);
    tls.structs.iter().for_each(|place| place.set(0));
}
