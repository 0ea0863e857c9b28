//! Labels of arguments and results on their way between instrumented functions, and between them and models.

use crate::state::{self, STATE, count_give_up};
use crate::{nodes, os, shadow, shapes, values};
use trace::{GiveUp, Label, slots};

/// A run ends: no label of it is on its way any more.
pub unsafe fn forget() {
    unsafe {
        let tls = os::tls();
        (*tls).args_in_flight = 0;
        (*tls).varargs_in_flight = 0;
        (*tls).structs = [0; slots::STRUCTS];
        (*tls).results = [0; slots::RESULTS];
    }
}

/// True if the caller passed labels. The callee then takes them and calls [`__tgi_args_taken`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_args_in_flight() -> u32 {
    unsafe { (*os::tls()).args_in_flight }
}

/// Sends the label of argument `slot`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_send_arg(slot: u32, label: Label) {
    unsafe {
        let tls = os::tls();
        if (slot as usize) < slots::ARGS {
            (*tls).args[slot as usize] = label;
            (*tls).args_in_flight = slot + 1;
        }
    }
}

/// The label of argument `slot`, checked against its value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_take_arg(slot: u32, value: u64) -> Label {
    unsafe {
        let tls = os::tls();
        if slot >= (*tls).args_in_flight {
            return 0;
        }
        let label = (*tls).args.get(slot as usize).copied().unwrap_or(0);
        fitting(label, value)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_args_taken() {
    unsafe { (*os::tls()).args_in_flight = 0 }
}

#[inline(always)]
unsafe fn fitting(label: Label, value: u64) -> Label {
    unsafe {
        if label == 0 || shapes::is_byte(label, value) {
            return label;
        }
        if nodes::value(label) == value & values::mask(nodes::bits(label)) {
            return label;
        }
        count_give_up(GiveUp::Stale);
        0
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_send_result(slot: u32, label: Label) {
    unsafe { (*os::tls()).results[slot as usize % slots::RESULTS] = label }
}

/// The label of a call's result, checked against its value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_take_result(slot: u32, value: u64) -> Label {
    unsafe {
        let label = (*os::tls()).results[slot as usize % slots::RESULTS];
        if label == 0 { 0 } else { fitting_slow(label, value) }
    }
}

#[cold]
#[inline(never)]
unsafe extern "C" fn fitting_slow(label: Label, value: u64) -> Label {
    unsafe { fitting(label, value) }
}

/// Sends the place of a struct that is passed by value; the call instruction copies its bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_send_struct(slot: u32, from: usize) {
    unsafe { (*os::tls()).structs[slot as usize % slots::STRUCTS] = from }
}

/// Copies the labels of a struct that was passed by value to the callee's copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_take_struct(slot: u32, to: usize, size: usize) {
    unsafe {
        let place = &raw mut (*os::tls()).structs[slot as usize % slots::STRUCTS];
        if *place == 0 {
            shadow::__tgi_clear(to, size);
        } else {
            crate::memory::__tg_copy(to, *place, size, 0, 0, 0);
        }
        *place = 0;
    }
}

/// Where a call of a model stands in the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_call_site(site: u32) {
    unsafe { (*os::tls()).site = site }
}

/// Sends the label of a variadic argument that lies at `offset` of the calling convention's save area.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_send_vararg(offset: u32, label: Label) {
    unsafe {
        let tls = os::tls();
        let slot = offset as usize / 8;
        if slot < slots::VARARGS {
            (*tls).varargs[slot] = label;
            (*tls).varargs_in_flight = offset + 8;
        }
    }
}

/// Keeps the variadic arguments' labels of this call in the function's own frame until `va_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_take_varargs(into: *mut [u32; slots::VARARGS]) {
    unsafe {
        let tls = os::tls();
        if (*tls).varargs_in_flight == 0 {
            os::memset(into.cast(), 0, size_of::<[u32; slots::VARARGS]>());
            return;
        }
        os::memcpy(into.cast(), (&raw const (*tls).varargs).cast(), size_of::<[u32; slots::VARARGS]>());
        os::memset((&raw mut (*tls).varargs).cast(), 0, size_of::<[u32; slots::VARARGS]>());
        (*tls).varargs_in_flight = 0;
    }
}

/// Arguments behind the named ones, which are taken one by one.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct VaList(trace::VaList);

/// Size of the register save area.
const SAVE_AREA: usize = 176;
/// Size of its part for general registers.
const GENERAL_AREA: u32 = 48;

impl VaList {
    /// Where the next integer or pointer is.
    pub unsafe fn next(&mut self) -> *mut u8 {
        unsafe {
            if self.0.gp_offset >= GENERAL_AREA {
                return self.next_on_stack();
            }
            self.0.gp_offset += 8;
            self.0.save_area.add(self.0.gp_offset as usize - 8)
        }
    }

    /// Where the next `double` is.
    pub unsafe fn next_float(&mut self) -> *mut u8 {
        unsafe {
            if self.0.fp_offset as usize >= SAVE_AREA {
                return self.next_on_stack();
            }
            self.0.fp_offset += 16;
            self.0.save_area.add(self.0.fp_offset as usize - 16)
        }
    }

    unsafe fn next_on_stack(&mut self) -> *mut u8 {
        let place = self.0.overflow_area;
        self.0.overflow_area = unsafe { place.add(8) };
        place
    }
}

/// `va_start` has filled `list`: gives the arguments in memory their labels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_va_start(list: *const trace::VaList, labels: *const [u32; slots::VARARGS]) {
    unsafe {
        for slot in 0..slots::VARARGS {
            let label = (*labels)[slot];
            let offset = slot * 8;
            let at = if offset < SAVE_AREA {
                (*list).save_area.add(offset)
            } else {
                (*list).overflow_area.add(offset - SAVE_AREA)
            } as usize;
            // A concrete slot of the save area may hold labels of an earlier call's frame.
            if label == 0 {
                if offset < SAVE_AREA {
                    shadow::clear(at, 8);
                }
                continue;
            }
            shadow::store(at, label, nodes::bits(label) as usize / 8);
        }
    }
}

/// The target starts threads from here on.
pub unsafe fn note_thread() {
    unsafe { STATE.threaded = true }
}

/// The labels that a model's caller passed, taken once at the model's start.
pub struct Args {
    labels: [Label; 6],
}

impl Args {
    pub const NONE: Args = Args { labels: [0; 6] };

    #[inline(always)]
    pub unsafe fn take() -> Args {
        unsafe { if (*os::tls()).args_in_flight == 0 { Args::NONE } else { take_slow() } }
    }

    #[inline(always)]
    pub fn label(&self, slot: usize) -> Label {
        self.labels.get(slot).copied().unwrap_or(0)
    }

    pub fn any(&self) -> bool {
        self.labels.iter().any(|&label| label != 0)
    }
}

#[cold]
unsafe fn take_slow() -> Args {
    unsafe {
        let tls = os::tls();
        let mut args = Args::NONE;
        let count = (*tls).args_in_flight;
        for (slot, label) in args.labels.iter_mut().enumerate() {
            if (slot as u32) < count {
                *label = (*tls).args[slot];
            }
        }
        (*tls).args_in_flight = 0;
        args
    }
}

/// Fixes every symbolic argument of a model to its value.
pub unsafe fn concretise_args(args: &Args, reason: trace::ConcretiseReason) {
    unsafe {
        if !args.any() {
            return;
        }
        let site = (*os::tls()).site;
        let Some(_entered) = state::enter() else { return };
        for &label in &args.labels {
            crate::events::concretise(label, reason, site);
        }
    }
}
