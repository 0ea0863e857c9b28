//! Copies and fills of memory: labels follow the bytes.

use crate::build::Value;
use crate::{address, events, objects, os, shadow, state, stretches};
use core::ffi::{c_int, c_void};
use trace::{ConcretiseReason, GiveUp, Label};

/// Fixes places and size of a copy to what they are on this run, after asking for a size that goes beyond the objects.
#[cold]
unsafe fn concretise_all(places: [usize; 2], bytes: usize, labels: [Label; 3]) {
    unsafe {
        let site = (*os::tls()).site;
        let Some(_entered) = state::enter() else { return };
        let [to, from, size] = labels;
        for place in places.into_iter().filter(|place| *place != 0) {
            address::check_room(place, Value::new(size, bytes as u64), site);
        }
        events::concretise(to, ConcretiseReason::WriteAddress, site);
        events::concretise(from, ConcretiseReason::ReadAddress, site);
        events::concretise(size, ConcretiseReason::CopyLength, site);
    }
}

/// A text that grows with the stretch is copied: it stays within the object, a property.
#[inline(always)]
pub unsafe fn check_text(to: usize, from: *const u8, size: usize) {
    unsafe {
        if stretches::any()
            && let Some(_entered) = state::enter()
        {
            address::check_room(to, stretches::copied(from, size), (*os::tls()).site);
        }
    }
}

/// `memcpy` and `memmove` of labels; the bytes are copied by the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_copy(to: usize, from: usize, size: usize, lt: Label, lf: Label, ls: Label) {
    unsafe {
        if lt | lf | ls != 0 {
            concretise_all([to, from], size, [lt, lf, ls]);
        }
        if size == 0 {
            return;
        }
        if ls == 0 {
            check_text(to, from as *const u8, size);
        }
        if shadow::copies_nothing(to, from, size) {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        shadow::copy(to, from, size);
    }
}

/// `memset` of labels: `label` is that of the byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_fill(to: usize, size: usize, label: Label, lt: Label, ls: Label) {
    unsafe {
        if lt | ls != 0 {
            concretise_all([to, 0], size, [lt, 0, ls]);
        }
        if label == 0 {
            return if size != 0 {
                shadow::__tgi_clear(to, size)
            };
        }
        let Some(_entered) = state::enter() else { return };
        for i in 0..size {
            shadow::set_entry(to + i, label);
        }
    }
}

/// How much memory counts as used by assembly through a pointer into no known object.
const NEAR: usize = 64;

/// Inline assembly may use the memory at an operand: `size` bytes, or with 0 as much as there is.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_assembly(address: usize, size: usize, site: u32) {
    unsafe {
        if !state::active() {
            return;
        }
        let left = |object: objects::Object| (object.start + object.size).saturating_sub(address);
        let size = if size == 0 { objects::find(address).map_or(NEAR, left) } else { size };
        if shadow::any_label(address, size)
            && let Some(_entered) = state::enter()
        {
            events::give_up(GiveUp::InlineAssembly, site, 0);
        }
    }
}

unsafe extern "C" {
    fn memmove(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void;
}

/// Copies bytes with their labels; for models that move data.
pub unsafe fn copy_with_labels(to: *mut u8, from: *const u8, size: usize) {
    unsafe {
        if shadow::any_label(from as usize, size) || shadow::any_label(to as usize, size) {
            shadow::copy(to as usize, from as usize, size);
        }
        memmove(to.cast(), from.cast(), size);
    }
}

/// Fills bytes with their label; for models that move data.
pub unsafe fn fill_with_label(to: *mut u8, byte: c_int, size: usize, label: Label) {
    unsafe {
        __tg_fill(to as usize, size, label, 0, 0);
        os::memset(to.cast(), byte, size);
    }
}
