//! The allocator: bounds of heap objects, and fresh memory that carries no labels.

use super::answer;
use crate::build::Value;
use crate::calls::{self, Args};
use crate::objects::{note_allocation, note_free};
use crate::state::active;
use crate::{build, checks, events, memory, shadow, state, stretches};
use core::ffi::{c_char, c_int, c_void};
use trace::{ConcretiseReason, Label, Op};

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn realloc(old: *mut c_void, size: usize) -> *mut c_void;
    fn free(object: *mut c_void);
    fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void;
    fn posix_memalign(result: *mut *mut c_void, alignment: usize, size: usize) -> c_int;
    fn memalign(alignment: usize, size: usize) -> *mut c_void;
    fn valloc(size: usize) -> *mut c_void;
    fn pvalloc(size: usize) -> *mut c_void;
    fn reallocarray(old: *mut c_void, count: usize, size: usize) -> *mut c_void;
    fn malloc_usable_size(object: *mut c_void) -> usize;
    fn strlen(string: *const c_char) -> usize;
    fn strnlen(string: *const c_char, limit: usize) -> usize;
}

/// An argument that the function does not have.
const NO_SLOT: usize = usize::MAX;

#[inline]
unsafe fn allocated(object: *mut c_void, size: usize) -> *mut c_void {
    unsafe { allocated_with(object, size, 0) }
}

/// An object whose size has a label.
#[inline]
unsafe fn allocated_with(object: *mut c_void, size: usize, label: Label) -> *mut c_void {
    unsafe {
        if active() && !object.is_null() {
            note_object(object as usize, size, label);
        }
        answer(0);
        object
    }
}

#[inline]
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
        if stretches::any()
            && let Some(_entered) = state::enter()
        {
            stretches::note_allocation(object, label);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_malloc(size: usize) -> *mut c_void {
    unsafe {
        let args = Args::take();
        checks::allocation(&args, [NO_SLOT, 0], 1, size as u64);
        calls::concretise_args(&args, ConcretiseReason::AllocationSize);
        allocated_with(malloc(size), size, args.label(0))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_calloc(count: usize, size: usize) -> *mut c_void {
    unsafe {
        let args = Args::take();
        checks::allocation(&args, [0, 1], count as u64, size as u64);
        calls::concretise_args(&args, ConcretiseReason::AllocationSize);
        let total = count.wrapping_mul(size);
        let label = match state::enter() {
            Some(_entered) if stretches::any() => {
                let (count, size) =
                    (Value::new(args.label(0), count as u64), Value::new(args.label(1), size as u64));
                build::binary(Op::Mul, 64, count, size)
            }
            _ => 0,
        };
        allocated_with(calloc(count, size), total, label)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_realloc(old: *mut c_void, size: usize) -> *mut c_void {
    unsafe {
        let args = Args::take();
        checks::allocation(&args, [NO_SLOT, 1], 1, size as u64);
        calls::concretise_args(&args, ConcretiseReason::AllocationSize);
        if !active() || old.is_null() {
            return allocated_with(realloc(old, size), size, args.label(1));
        }
        let old_size = malloc_usable_size(old);
        let new = realloc(old, size);
        answer(0);
        if new.is_null() {
            if size == 0 {
                note_free(old as usize);
            }
            return new;
        }
        if new != old {
            note_free(old as usize);
            shadow::copy(new as usize, old as usize, old_size.min(size));
        }
        if size > old_size {
            shadow::clear(new as usize + old_size, size - old_size);
        }
        note_allocation(new as usize, Some(size));
        note_size(new as usize, args.label(1));
        new
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_reallocarray(
    old: *mut c_void,
    count: usize,
    size: usize,
) -> *mut c_void {
    unsafe {
        match count.checked_mul(size) {
            Some(total) => __tarragon_model_realloc(old, total),
            None => allocated(reallocarray(old, count, size), 0),
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_free(object: *mut c_void) {
    unsafe {
        calls::__tgi_args_taken();
        if active() {
            note_free(object as usize);
        }
        free(object);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::AllocationSize);
        allocated(aligned_alloc(alignment, size), size)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_memalign(alignment: usize, size: usize) -> *mut c_void {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::AllocationSize);
        allocated(memalign(alignment, size), size)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_valloc(size: usize) -> *mut c_void {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::AllocationSize);
        allocated(valloc(size), size)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_pvalloc(size: usize) -> *mut c_void {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::AllocationSize);
        allocated(pvalloc(size), size)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_posix_memalign(
    result: *mut *mut c_void,
    alignment: usize,
    size: usize,
) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::AllocationSize);
        let code = posix_memalign(result, alignment, size);
        shadow::clear(result as usize, 8);
        if code == 0 {
            allocated(*result, size);
        }
        answer(0);
        code
    }
}

/// The label of the size that `operator new` is asked for, until the object is there.
static mut NEW_SIZE: Label = 0;

/// `operator new` is asked for a size that depends on the input.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_new(label: Label, size: usize, site: u32) {
    unsafe {
        if label == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        checks::allocation_size(Value::new(label, size as u64), 1, site);
        events::concretise(label, ConcretiseReason::AllocationSize, site);
        NEW_SIZE = label;
    }
}

/// `operator new` gave an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_created(object: usize, size: usize) {
    unsafe {
        if active() && object != 0 {
            note_object(object, size, core::mem::take(&mut NEW_SIZE));
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

unsafe fn duplicate(string: *const c_char, size: usize) -> *mut c_char {
    unsafe {
        let label = match state::enter() {
            Some(_entered) if stretches::any() => {
                let length = stretches::length(string.cast(), size);
                build::binary(Op::Add, 64, length, Value::concrete(1))
            }
            _ => 0,
        };
        let copy = allocated_with(malloc(size + 1), size + 1, label).cast::<c_char>();
        if !copy.is_null() {
            memory::copy_with_labels(copy.cast(), string.cast(), size);
            *copy.add(size) = 0;
        }
        copy
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model___strdup(string: *const c_char) -> *mut c_char {
    unsafe { __tarragon_model_strdup(string) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model___strndup(string: *const c_char, limit: usize) -> *mut c_char {
    unsafe { __tarragon_model_strndup(string, limit) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strdup(string: *const c_char) -> *mut c_char {
    unsafe {
        calls::__tgi_args_taken();
        duplicate(string, strlen(string))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strndup(string: *const c_char, limit: usize) -> *mut c_char {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        duplicate(string, strnlen(string, limit))
    }
}
