//! Coverage of the covered variant from before `main`: what constructors ran belongs to every run,
//! but the map that they wrote is replaced by shared memory when the fork server starts.

use crate::os;

/// A copy of the coverage map, which may be null; called before the start.
///
/// # Safety
/// The map has this length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_keep_coverage(coverage: *const u8, len: usize) -> *mut u8 {
    let copy = os::allocate(len).cast::<u8>();
    if !copy.is_null() {
        // SAFETY: the caller's promise; the copy is new and has the same length.
        unsafe { os::memcpy(copy.cast(), coverage.cast(), len) };
    }
    copy
}

/// Adds the copy to the map of this run; called after the start.
///
/// # Safety
/// The map has this length, and so has the copy, unless it is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_add_coverage(coverage: *mut u8, len: usize, copy: *const u8) {
    if copy.is_null() {
        return;
    }
    let mut at = 0;
    while at < len {
        // SAFETY: the caller's promise.
        unsafe {
            if *copy.add(at) != 0 {
                *coverage.add(at) = 1;
            }
        }
        at += 1;
    }
}
