//! Copies and fills of memory: labels follow the bytes.

use crate::build::Value;
use crate::calls::call_site;
use crate::state::{self, Run};
use crate::{address, events, objects, os, repetitions, shadow};
use core::ffi::c_int;
use trace::{ConcretiseReason, GiveUp, Label};

/// A byte of the target.
#[inline(always)]
pub fn byte(address: usize) -> u8 {
    // SAFETY: the address is the target's own, which has just accessed the byte or is about to.
    unsafe { *(address as *const u8) }
}

/// Whether there are the same bytes at two places.
pub fn are_equal(a: usize, b: usize, size: usize) -> bool {
    // SAFETY: as above, or the place is in the segment.
    unsafe { os::memcmp(a as *const _, b as *const _, size) == 0 }
}

/// Fixes places and size of a copy to what they are on this run, after asking for a size that goes
/// beyond the objects.
#[cold]
fn concretise_all(run: &Run, places: [usize; 2], bytes: usize, labels: [Label; 3]) {
    let site = call_site();
    let Some(_entered) = state::enter(run) else { return };
    let [to, from, size] = labels;
    for place in places.into_iter().filter(|place| *place != 0) {
        address::check_room(run, place, Value::new(size, bytes as u64), site);
    }
    events::concretise(run, to, ConcretiseReason::WriteAddress, site);
    events::concretise(run, from, ConcretiseReason::ReadAddress, site);
    events::concretise(run, size, ConcretiseReason::CopyLength, site);
}

/// A text that grows with the repetition is copied: it stays within the object, a property.
#[inline(always)]
pub fn check_text(run: &Run, to: usize, from: usize, size: usize) {
    if repetitions::any(run)
        && let Some(_entered) = state::enter(run)
    {
        address::check_room(run, to, repetitions::copied(run, from, size), call_site());
    }
}

/// `memcpy` and `memmove` of labels; the bytes are copied by the program.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_copy(to: usize, from: usize, size: usize, lt: Label, lf: Label, ls: Label) {
    let run = Run::current();
    if lt | lf | ls != 0 {
        concretise_all(run, [to, from], size, [lt, lf, ls]);
    }
    if size == 0 {
        return;
    }
    if ls == 0 {
        check_text(run, to, from, size);
    }
    if shadow::copies_nothing(to, from, size) {
        return;
    }
    let Some(_entered) = state::enter(run) else { return };
    shadow::copy(run, to, from, size);
}

/// `memset` of labels: `label` is that of the byte.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_fill(to: usize, size: usize, label: Label, lt: Label, ls: Label) {
    let run = Run::current();
    if lt | ls != 0 {
        concretise_all(run, [to, 0], size, [lt, 0, ls]);
    }
    if label == 0 {
        if size != 0 {
            shadow::__tgi_clear(to, size);
        }
        return;
    }
    let Some(_entered) = state::enter(run) else { return };
    for i in 0..size {
        shadow::set_entry(run, to + i, label);
    }
}

/// How much memory counts as used by assembly through a pointer into no known object.
const NEAR: usize = 64;

/// Inline assembly may use the memory at an operand: `size` bytes, or with 0 as much as there is.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_assembly(address: usize, size: usize, site: u32) {
    let run = Run::current();
    if !state::active(run) {
        return;
    }
    let left = |object: objects::Object| (object.start + object.size).saturating_sub(address);
    let size = if size == 0 { objects::find(run, address).map_or(NEAR, left) } else { size };
    if shadow::any_label(address, size)
        && let Some(_entered) = state::enter(run)
    {
        events::give_up(run, GiveUp::InlineAssembly, site, 0);
    }
}

/// Copies bytes with their labels; for models that move data.
///
/// # Safety
/// As for `memmove`.
pub unsafe fn copy_with_labels(run: &Run, to: *mut u8, from: *const u8, size: usize) {
    if shadow::any_label(from as usize, size) || shadow::any_label(to as usize, size) {
        shadow::copy(run, to as usize, from as usize, size);
    }
    // SAFETY: the caller's promise.
    unsafe { os::memmove(to.cast(), from.cast(), size) };
}

/// Fills bytes with their label; for models that move data.
///
/// # Safety
/// As for `memset`.
pub unsafe fn fill_with_label(to: *mut u8, byte: c_int, size: usize, label: Label) {
    __tg_fill(to as usize, size, label, 0, 0);
    // SAFETY: the caller's promise.
    unsafe { os::memset(to.cast(), byte, size) };
}
