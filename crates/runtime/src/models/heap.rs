//! The allocator: bounds of heap objects, and fresh memory that carries no labels.

use super::copy::end_at;
use super::element::{Element, Elements, byte_size};
use super::logic::apply_to;
use super::state::MODEL_STATE;
use super::table::real;
use super::{answer, guarded};
use crate::build::{self, Value};
use crate::calls::Args;
use crate::objects::{note_allocation, note_free};
use crate::state::active;
use crate::{checks, events, memory, shadow, stretches};
use core::ffi::{c_int, c_void};
use trace::{ConcretiseReason, Label, Op};

unsafe extern "C" {
    fn malloc_usable_size(object: *mut c_void) -> usize;
}

#[inline(always)]
unsafe fn allocated(object: *mut u8, size: usize) -> *mut u8 {
    unsafe { allocated_with(object, size, 0) }
}

/// An object whose size has a label.
#[inline(always)]
unsafe fn allocated_with(object: *mut u8, size: usize, label: Label) -> *mut u8 {
    unsafe {
        if active() && !object.is_null() {
            note_object(object as usize, size, label);
        }
        answer(0);
        object
    }
}

#[inline(always)]
unsafe fn note_object(object: usize, size: usize, label: Label) {
    unsafe {
        note_allocation(object, Some(size));
        note_size(object, label);
        shadow::__tgi_clear(object, size.max(1));
    }
}

/// Objects that grow with the stretch are remembered.
unsafe fn note_size(object: usize, label: Label) {
    unsafe {
        if stretches::any() {
            guarded(|| stretches::note_allocation(object, label));
        }
    }
}

/// `malloc`
#[inline(always)]
pub(super) unsafe fn object(labels: &Args, size: usize) -> *mut u8 {
    unsafe { allocated_with(real::malloc(size), size, labels.label(0)) }
}

/// `calloc`
pub(super) unsafe fn array(labels: &Args, count: usize, size: usize) -> *mut u8 {
    unsafe {
        let factor = |slot: usize, value: usize| Value::new(labels.label(slot), value as u64);
        let product = || build::binary(Op::Mul, 64, factor(0, count), factor(1, size));
        let label = if stretches::any() { guarded(product).unwrap_or(0) } else { 0 };
        allocated_with(real::calloc(count, size), count.wrapping_mul(size), label)
    }
}

/// `realloc`
pub(super) unsafe fn resized(labels: &Args, old: *mut u8, size: usize) -> *mut u8 {
    unsafe {
        if !active() || old.is_null() {
            return allocated_with(real::realloc(old, size), size, labels.label(1));
        }
        let old_size = malloc_usable_size(old.cast());
        let new = real::realloc(old, size);
        answer(0);
        if !new.is_null() {
            move_labels((old as usize, old_size), (new as usize, size));
            note_size(new as usize, labels.label(1));
        } else if size == 0 {
            note_free(old as usize);
        }
        new
    }
}

/// An object has been given another size, and maybe another place.
unsafe fn move_labels((old, old_size): (usize, usize), (new, size): (usize, usize)) {
    unsafe {
        if new != old {
            note_free(old);
            shadow::copy(new, old, old_size.min(size));
        }
        if size > old_size {
            shadow::clear(new + old_size, size - old_size);
        }
        note_allocation(new, Some(size));
    }
}

/// `reallocarray`
pub(super) unsafe fn resized_array(_: &Args, old: *mut u8, count: usize, size: usize) -> *mut u8 {
    unsafe {
        match count.checked_mul(size) {
            Some(total) => resized(&Args::NONE, old, total),
            None => allocated(real::reallocarray(old, count, size), 0),
        }
    }
}

/// `free`
#[inline(always)]
pub(super) unsafe fn released(_: &Args, object: *mut u8) {
    unsafe {
        if active() {
            note_free(object as usize);
        }
        real::free(object);
    }
}

/// `aligned_alloc` and `memalign`
pub(super) unsafe fn aligned(
    real: unsafe extern "C" fn(usize, usize) -> *mut u8,
    _: &Args,
    alignment: usize,
    size: usize,
) -> *mut u8 {
    unsafe { allocated(real(alignment, size), size) }
}

/// `valloc` and `pvalloc`
pub(super) unsafe fn pages(real: unsafe extern "C" fn(usize) -> *mut u8, _: &Args, size: usize) -> *mut u8 {
    unsafe { allocated(real(size), size) }
}

/// `posix_memalign`
pub(super) unsafe fn aligned_into(_: &Args, result: *mut *mut u8, alignment: usize, size: usize) -> c_int {
    unsafe {
        let code = real::posix_memalign(result, alignment, size);
        shadow::clear(result as usize, 8);
        if code == 0 {
            allocated(*result, size);
        }
        answer(0);
        code
    }
}

/// `operator new` is asked for a size that depends on the input.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_new(label: Label, size: usize, site: u32) {
    unsafe {
        if label == 0 {
            return;
        }
        guarded(|| {
            checks::allocation_size(Value::new(label, size as u64), 1, site);
            events::concretise(label, ConcretiseReason::AllocationSize, site);
            MODEL_STATE.new_size = label;
        });
    }
}

/// `operator new` gave an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_created(object: usize, size: usize) {
    unsafe {
        if active() && object != 0 {
            note_object(object, size, core::mem::take(&mut MODEL_STATE.new_size));
        }
    }
}

/// `operator delete` takes an object back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_deleted(object: usize) {
    unsafe {
        if active() {
            note_free(object);
        }
    }
}

/// A copy of a string of so many elements.
unsafe fn duplicate<E: Element>(string: *const E, count: usize) -> *mut E {
    unsafe {
        // SAFETY: the caller has measured the string.
        let length = || Elements::new(string, count).passed().place(count);
        let bytes = || byte_size::<E>(apply_to(Op::Add, 64, length(), 1));
        let label = if stretches::any() { guarded(|| bytes().label).unwrap_or(0) } else { 0 };
        let size = (count + 1).wrapping_mul(E::SIZE);
        let copy = allocated_with(real::malloc(size), size, label).cast::<E>();
        if !copy.is_null() {
            memory::copy_with_labels(copy.cast(), string.cast(), count * E::SIZE);
            end_at(copy.add(count));
        }
        copy
    }
}

/// `strdup`
pub(super) unsafe fn string<E: Element>(_: &Args, string: *const E) -> *mut E {
    unsafe { duplicate(string, E::length(string)) }
}

/// `strndup`
pub(super) unsafe fn string_within<E: Element>(_: &Args, string: *const E, limit: usize) -> *mut E {
    unsafe { duplicate(string, E::length_within(string, limit)) }
}
