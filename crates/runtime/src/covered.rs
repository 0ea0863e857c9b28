//! Coverage of the covered variant from before `main`: what constructors ran belongs to every run, but the map that they
//! wrote is replaced by shared memory when the fork server starts.

use crate::os;

/// A copy of the coverage map, which may be null; called before the start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_keep_coverage(coverage: *const u8, len: usize) -> *mut u8 {
    unsafe {
        let copy = os::allocate(len).cast::<u8>();
        if !copy.is_null() {
            os::memcpy(copy.cast(), coverage.cast(), len);
        }
        copy
    }
}

/// Adds the copy to the map of this run; called after the start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_add_coverage(coverage: *mut u8, len: usize, copy: *const u8) {
    if copy.is_null() {
        return;
    }
    let mut at = 0;
    while at < len {
        unsafe {
            if *copy.add(at) != 0 {
                *coverage.add(at) = 1;
            }
        }
        at += 1;
    }
}
