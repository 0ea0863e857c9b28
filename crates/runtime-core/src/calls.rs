//! Labels of arguments and results on their way between instrumented functions, and between them
//! and models.

use crate::state::{self, Run};
use crate::tls::tls;
use crate::{events, memory, nodes, shadow, shapes, values};
use core::cell::Cell;
use trace::{ConcretiseReason, GiveUp, Label, slots};

/// True if the caller passed labels. The callee then takes them and calls [`__tgi_args_taken`].
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_args_in_flight() -> u32 {
    tls().args_in_flight.get()
}

/// Sends the label of argument `slot`.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_send_arg(slot: u32, label: Label) {
    let tls = tls();
    if let Some(arg) = tls.args.get(slot as usize) {
        arg.set(label);
        tls.args_in_flight.set(slot + 1);
    }
}

/// The label of argument `slot`, checked against its value.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_take_arg(slot: u32, value: u64) -> Label {
    let tls = tls();
    if slot >= tls.args_in_flight.get() {
        return 0;
    }
    let label = tls.args.get(slot as usize).map_or(0, Cell::get);
    fitting(Run::current(), label, value)
}

#[unsafe(no_mangle)]
pub extern "C" fn __tgi_args_taken() {
    tls().args_in_flight.set(0);
}

#[inline(always)]
fn fitting(run: &Run, label: Label, value: u64) -> Label {
    if label == 0 || shapes::is_byte(run, label, value) {
        return label;
    }
    if nodes::value(run, label) == value & values::mask(nodes::bits(run, label)) {
        return label;
    }
    run.segment.count_give_up(GiveUp::Stale);
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn __tgi_send_result(slot: u32, label: Label) {
    tls().results[slot as usize % slots::RESULTS].set(label);
}

/// The label of a call's result, checked against its value.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_take_result(slot: u32, value: u64) -> Label {
    let label = tls().results[slot as usize % slots::RESULTS].get();
    if label == 0 { 0 } else { fitting_slow(label, value) }
}

#[cold]
#[inline(never)]
extern "C" fn fitting_slow(label: Label, value: u64) -> Label {
    fitting(Run::current(), label, value)
}

/// Sends the place of a struct that is passed by value; the call instruction copies its bytes.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_send_struct(slot: u32, from: usize) {
    tls().structs[slot as usize % slots::STRUCTS].set(from);
}

/// Copies the labels of a struct that was passed by value to the callee's copy.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_take_struct(slot: u32, to: usize, size: usize) {
    let place = &tls().structs[slot as usize % slots::STRUCTS];
    if place.get() == 0 {
        shadow::__tgi_clear(to, size);
    } else {
        memory::__tg_copy(to, place.get(), size, 0, 0, 0);
    }
    place.set(0);
}

/// Where a call of a model stands in the program.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_call_site(site: u32) {
    tls().site.set(site);
}

/// The site of the call of the model that runs.
#[inline(always)]
pub fn call_site() -> u32 {
    tls().site.get()
}

/// Sends the label of a variadic argument that lies at `offset` of the calling convention's save
/// area.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_send_vararg(offset: u32, label: Label) {
    let tls = tls();
    if let Some(vararg) = tls.varargs.get(offset as usize / 8) {
        vararg.set(label);
        tls.varargs_in_flight.set(offset + 8);
    } else if label != 0 {
        let run = Run::current();
        let Some(_entered) = state::enter(run) else { return };
        events::give_up(run, GiveUp::Arguments, call_site(), 0);
    }
}

/// Keeps the variadic arguments' labels of this call in the function's own frame until `va_start`.
///
/// # Safety
/// `into` is a place in the caller's frame, which may be uninitialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_take_varargs(into: *mut [u32; slots::VARARGS]) {
    let tls = tls();
    if tls.varargs_in_flight.get() == 0 {
        // SAFETY: the caller's promise.
        return unsafe { into.write([0; slots::VARARGS]) };
    }
    for (i, label) in tls.varargs.iter().enumerate() {
        // SAFETY: the place has room for as many labels as the thread's block.
        unsafe { into.cast::<u32>().add(i).write(label.take()) };
    }
    tls.varargs_in_flight.set(0);
}

/// Arguments after the named ones, which are taken one by one.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct VaList(trace::VaList);

/// Size of the register save area.
const SAVE_AREA: usize = 176;
/// Size of its part for general registers.
const GENERAL_AREA: u32 = 48;

impl VaList {
    /// Where the next integer or pointer is.
    pub fn next_word(&mut self) -> *mut u8 {
        if self.0.gp_offset >= GENERAL_AREA {
            return self.next_on_stack();
        }
        self.0.gp_offset += 8;
        self.0.save_area.wrapping_add(self.0.gp_offset as usize - 8)
    }

    /// Where the next `double` is.
    pub fn next_float(&mut self) -> *mut u8 {
        if self.0.fp_offset as usize >= SAVE_AREA {
            return self.next_on_stack();
        }
        self.0.fp_offset += 16;
        self.0.save_area.wrapping_add(self.0.fp_offset as usize - 16)
    }

    fn next_on_stack(&mut self) -> *mut u8 {
        let place = self.0.overflow_area;
        self.0.overflow_area = place.wrapping_add(8);
        place
    }
}

/// `va_start` has filled `list`: gives the arguments in memory their labels.
///
/// # Safety
/// Both are in the caller's frame: `labels` is what [`__tg_take_varargs`] wrote.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_va_start(
    list: *const trace::VaList,
    labels: *const [u32; slots::VARARGS],
) {
    let run = Run::current();
    // SAFETY: the caller's promise.
    let (list, labels) = unsafe { (&*list, &*labels) };
    for (slot, &label) in labels.iter().enumerate() {
        let offset = slot * 8;
        let at = if offset < SAVE_AREA {
            list.save_area.wrapping_add(offset)
        } else {
            list.overflow_area.wrapping_add(offset - SAVE_AREA)
        } as usize;
        // A concrete slot of the save area may hold labels of an earlier call's frame.
        if label == 0 {
            if offset < SAVE_AREA {
                shadow::clear(at, 8);
            }
            continue;
        }
        shadow::store(run, at, label, nodes::bits(run, label) as usize / 8);
    }
}

/// The target starts threads from here on.
pub fn note_thread(run: &Run) {
    run.threaded.set(true);
}

/// The labels that a model's caller passed, taken once at the model's start.
pub struct Args {
    labels: [Label; 6],
}

impl Args {
    pub const NONE: Args = Args { labels: [0; 6] };

    #[inline(always)]
    pub fn take() -> Args {
        if tls().args_in_flight.get() == 0 { Args::NONE } else { take_slow() }
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
fn take_slow() -> Args {
    let tls = tls();
    let mut args = Args::NONE;
    let count = tls.args_in_flight.take();
    for (label, sent) in args.labels.iter_mut().zip(&tls.args).take(count as usize) {
        *label = sent.get();
    }
    args
}

/// Fixes every symbolic argument of a model to its value.
pub fn concretise_args(run: &Run, args: &Args, reason: ConcretiseReason) {
    if !args.any() {
        return;
    }
    let site = call_site();
    let Some(_entered) = state::enter(run) else { return };
    for &label in &args.labels {
        events::concretise(run, label, reason, site);
    }
}
