//! The memory of LLVM: functions of the C library's names that LLVM's library finds in this program
//! first. LLVM makes and drops many small objects, and spent up to a sixth of its time on finding
//! room for them.

use libmimalloc_sys::{mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_zalloc};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

const INVALID: c_int = 22;
const NO_MEMORY: c_int = 12;

unsafe extern "C" {
    fn mi_usable_size(block: *const c_void) -> usize;
}

#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: any size can be asked for.
    unsafe { mi_malloc(size) }
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: as above.
        Some(all) => unsafe { mi_zalloc(all) },
        None => null_mut(),
    }
}

/// # Safety
///
/// As the C library's, and so are those below.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the block is from here, since all functions that make one are.
    unsafe { mi_realloc(block, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(block: *mut c_void) {
    // SAFETY: as above.
    unsafe { mi_free(block) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc_usable_size(block: *const c_void) -> usize {
    // SAFETY: as above.
    unsafe { mi_usable_size(block) }
}

#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    match alignment.is_power_of_two() {
        // SAFETY: the alignment is one.
        true => unsafe { mi_malloc_aligned(size, alignment) },
        false => null_mut(),
    }
}

#[unsafe(no_mangle)]
extern "C" fn memalign(alignment: usize, size: usize) -> *mut c_void {
    aligned_alloc(alignment, size)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(
    place: *mut *mut c_void,
    alignment: usize,
    size: usize,
) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return INVALID;
    }
    let block = aligned_alloc(alignment, size);
    if block.is_null() {
        return NO_MEMORY;
    }
    // SAFETY: the caller has room for a pointer there.
    unsafe { place.write(block) };
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::{CStr, c_char};
    use std::hint::black_box;

    unsafe extern "C" {
        fn mi_is_in_heap_region(block: *const c_void) -> bool;
        fn strdup(text: *const c_char) -> *mut c_char;
    }

    #[test]
    fn what_libraries_make_is_from_here() {
        // SAFETY: the text ends with a zero, and the copy is freed once.
        unsafe {
            let copy = strdup(c"text".as_ptr());
            assert_eq!(CStr::from_ptr(copy), c"text");
            assert!(mi_is_in_heap_region(copy.cast()));
            assert!(malloc_usable_size(copy.cast()) >= 5);
            free(copy.cast());
        }
    }

    #[test]
    fn aligned_blocks() {
        let mut block = null_mut();
        // SAFETY: there is room for a pointer, and what is freed was made.
        unsafe {
            assert_eq!(posix_memalign(&mut block, 4096, 10), 0);
            assert!((block as usize).is_multiple_of(4096) && !block.is_null());
            free(block);
            assert_eq!(posix_memalign(&mut block, 24, 10), INVALID);
            let block = memalign(64, 10);
            assert!((block as usize).is_multiple_of(64) && mi_is_in_heap_region(block));
            free(block);
        }
        assert!(aligned_alloc(3, 10).is_null());
    }

    #[test]
    fn zeroed_blocks_that_grow() {
        // The compiler takes a call whose result is only compared for one that succeeds.
        assert!(black_box(calloc(black_box(usize::MAX), 2)).is_null());
        // SAFETY: the block has 400 bytes, and then more.
        unsafe {
            let block = calloc(100, 4).cast::<u8>();
            assert!((0..400).all(|i| *block.add(i) == 0));
            *block = 7;
            let grown = realloc(block.cast(), 1 << 20).cast::<u8>();
            assert_eq!(*grown, 7);
            free(grown.cast());
        }
    }
}
