//! The allocator: bounds of heap objects, and fresh memory that carries no labels.

use super::copy::end_at;
use super::element::{Element, Elements, byte_size};
use super::logic::apply_to;
use super::table::real;
use super::{answer, ends, guarded};
use crate::state::models;
use core::ffi::{c_int, c_void};
use runtime_core::build::{self, Value};
use runtime_core::calls::Args;
use runtime_core::objects::{note_allocation, note_free};
use runtime_core::repetitions::allocations;
use runtime_core::state::{Run, active};
use runtime_core::{checks, events, memory, repetitions, shadow};
use trace::{ConcretiseReason, Label, Op};

unsafe extern "C" {
    fn malloc_usable_size(object: *mut c_void) -> usize;
}

#[inline(always)]
fn allocated(run: &Run, object: *mut u8, size: usize) -> *mut u8 {
    allocated_with(run, object, size, 0)
}

/// An object whose size has a label.
#[inline(always)]
fn allocated_with(run: &Run, object: *mut u8, size: usize, label: Label) -> *mut u8 {
    if active(run) && !object.is_null() {
        note_object(run, object as usize, size, label);
    }
    answer(0);
    object
}

#[inline(always)]
fn note_object(run: &Run, object: usize, size: usize, label: Label) {
    note_allocation(run, object, Some(size));
    note_size(run, object, label);
    shadow::__tgi_clear(object, size.max(1));
}

/// Objects that grow with the repetition are remembered.
fn note_size(run: &Run, object: usize, label: Label) {
    if repetitions::any(run) {
        guarded(|run| allocations::note_allocation(run, object, label));
    }
}

/// `malloc`
#[inline(always)]
pub(super) fn object(run: &Run, labels: &Args, size: usize) -> *mut u8 {
    // SAFETY: the program's own call.
    let object = unsafe { real::malloc(size) };
    allocated_with(run, object, size, labels.label(0))
}

/// `calloc`
pub(super) fn array(run: &Run, labels: &Args, count: usize, size: usize) -> *mut u8 {
    let factor = |slot: usize, value: usize| Value::new(labels.label(slot), value as u64);
    let product = |run: &Run| build::binary(run, Op::Mul, 64, factor(0, count), factor(1, size));
    let label = if repetitions::any(run) { guarded(product).unwrap_or(0) } else { 0 };
    // SAFETY: the program's own call.
    let object = unsafe { real::calloc(count, size) };
    allocated_with(run, object, count.wrapping_mul(size), label)
}

/// `realloc`
pub(super) fn resized(run: &Run, labels: &Args, old: *mut u8, size: usize) -> *mut u8 {
    if !active(run) || old.is_null() {
        // SAFETY: the program's own call.
        let new = unsafe { real::realloc(old, size) };
        return allocated_with(run, new, size, labels.label(1));
    }
    // SAFETY: an object that the program passes to the allocator, which has made it.
    let old_size = unsafe { malloc_usable_size(old.cast()) };
    // SAFETY: the program's own call.
    let new = unsafe { real::realloc(old, size) };
    answer(0);
    if !new.is_null() {
        move_labels(run, (old as usize, old_size), (new as usize, size));
        note_size(run, new as usize, labels.label(1));
    } else if size == 0 {
        note_free(old as usize);
    }
    new
}

/// An object has been given another size, and maybe another place.
fn move_labels(run: &Run, (old, old_size): (usize, usize), (new, size): (usize, usize)) {
    if new != old {
        note_free(old);
        shadow::copy(run, new, old, old_size.min(size));
    }
    if size > old_size {
        shadow::clear(new + old_size, size - old_size);
    }
    note_allocation(run, new, Some(size));
}

/// `reallocarray`
pub(super) fn resized_array(
    run: &Run,
    _: &Args,
    old: *mut u8,
    count: usize,
    size: usize,
) -> *mut u8 {
    match count.checked_mul(size) {
        Some(total) => resized(run, &Args::NONE, old, total),
        // SAFETY: the program's own call.
        None => allocated(run, unsafe { real::reallocarray(old, count, size) }, 0),
    }
}

/// `free`
#[inline(always)]
pub(super) fn released(run: &Run, _: &Args, object: *mut u8) {
    if active(run) {
        note_free(object as usize);
    }
    // SAFETY: the program's own call.
    unsafe { real::free(object) };
}

/// `aligned_alloc` and `memalign`
pub(super) fn aligned(
    run: &Run,
    real: unsafe extern "C" fn(usize, usize) -> *mut u8,
    _: &Args,
    alignment: usize,
    size: usize,
) -> *mut u8 {
    // SAFETY: the program's own call.
    allocated(run, unsafe { real(alignment, size) }, size)
}

/// `valloc` and `pvalloc`
pub(super) fn pages(
    run: &Run,
    real: unsafe extern "C" fn(usize) -> *mut u8,
    _: &Args,
    size: usize,
) -> *mut u8 {
    // SAFETY: the program's own call.
    allocated(run, unsafe { real(size) }, size)
}

/// `posix_memalign`
pub(super) fn aligned_into(
    run: &Run,
    _: &Args,
    result: *mut *mut u8,
    alignment: usize,
    size: usize,
) -> c_int {
    // SAFETY: the program's own call.
    let code = unsafe { real::posix_memalign(result, alignment, size) };
    shadow::clear(result as usize, 8);
    if code == 0 {
        // SAFETY: the library has just put the object there.
        allocated(run, unsafe { result.read() }, size);
    }
    answer(0);
    code
}

/// `operator new` is asked for a size that depends on the input.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_new(label: Label, size: usize, site: u32) {
    if label == 0 {
        return;
    }
    guarded(|run| {
        checks::allocation_size(run, Value::new(label, size as u64), 1, site);
        events::concretise(run, label, ConcretiseReason::AllocationSize, site);
        models().new_size.set(label);
    });
}

/// `operator new` gave an object.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_created(object: usize, size: usize) {
    let run = Run::current();
    if active(run) && object != 0 {
        note_object(run, object, size, models().new_size.take());
    }
}

/// `operator delete` takes an object back.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_deleted(object: usize) {
    let run = Run::current();
    if active(run) {
        note_free(object);
    }
}

/// A copy of a string, or of as many of its elements as count.
fn duplicate<E: Element>(run: &Run, string: *const E, limit: usize) -> *mut E {
    let count = E::length_within(string, limit);
    let size = (count + 1).wrapping_mul(E::SIZE);
    let size_of_copy = |run: &Run| copy_size(run, Elements::new(string, count));
    let label = if repetitions::any(run) { guarded(size_of_copy).unwrap_or(0) } else { 0 };
    ends::note_length(run, string, count, limit);
    // SAFETY: a new object takes nothing away from others.
    let object = unsafe { real::malloc(size) };
    let copy = allocated_with(run, object, size, label).cast::<E>();
    if !copy.is_null() {
        // SAFETY: the string has so many elements, and the new object has room for them and the
        // end.
        unsafe {
            memory::copy_with_labels(run, copy.cast(), string.cast(), count * E::SIZE);
            end_at(copy.add(count));
        }
    }
    copy
}

/// The label of the size of a copy that grows with the repetition in the string.
fn copy_size<E: Element>(run: &Run, string: Elements<E>) -> Label {
    let length = string.passed(run).place(run, string.count);
    byte_size::<E>(run, apply_to(run, Op::Add, 64, length, 1)).label
}

/// `strdup`
pub(super) fn string<E: Element>(run: &Run, _: &Args, string: *const E) -> *mut E {
    duplicate(run, string, usize::MAX)
}

/// `strndup`
pub(super) fn string_within<E: Element>(
    run: &Run,
    _: &Args,
    string: *const E,
    limit: usize,
) -> *mut E {
    duplicate(run, string, limit)
}
