//! Heap objects: which one an address belongs to, and how large it is.

use super::{TestRun, now};
use crate::objects::{self, note_allocation, note_free};
use std::ffi::c_void;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(object: *mut c_void);
}

/// Start and size of the object that an address belongs to.
fn found(address: usize) -> Option<(usize, usize)> {
    objects::find(now(), address).map(|object| (object.start, object.size))
}

#[test]
fn heap_objects_have_the_size_that_was_asked_for() {
    let _run = TestRun::start(b"ab");
    let sizes = (0..70).chain([1000, 4096, 65_534, 65_535, 65_536, 131_072, 200_000, 1 << 20]);
    for size in sizes {
        // SAFETY: the object is alive while it is marked.
        unsafe {
            let object = malloc(size);
            let start = object as usize;
            note_allocation(now(), start, Some(size));
            // Just beyond it, too: an access there is meant for it.
            for address in [start, start + size / 2, start + size] {
                assert_eq!(found(address), Some((start, size)), "{address:x} of {size} bytes");
            }
            note_allocation(now(), start, None);
            assert!(found(start).is_some_and(|(_, block)| block >= size));
            note_free(start);
            assert_eq!(found(start), None);
            free(object);
        }
    }
}

/// Code without instrumentation frees objects that are marked, and the memory goes back to the
/// system.
#[test]
fn marks_of_freed_objects_are_harmless() {
    let _run = TestRun::start(b"ab");
    // SAFETY: the object is looked for, not used.
    unsafe {
        let object = malloc(1 << 20);
        let start = object as usize;
        note_allocation(now(), start, Some(1 << 20));
        assert_eq!(found(start + 5), Some((start, 1 << 20)));
        free(object);
        assert_eq!(found(start + 5), Some((start, 1 << 20)));
        note_free(start);
    }
}

/// What is left of objects that lay where a new one is must not split it.
#[test]
fn new_objects_hide_what_was_there() {
    let _run = TestRun::start(b"ab");
    // SAFETY: marks are kept for any address.
    unsafe {
        let start = malloc(200_000) as usize;
        for old in [start + 32, start + 65_536, start + 131_072] {
            note_allocation(now(), old, Some(16));
        }
        note_allocation(now(), start, Some(200_000));
        for address in [start + 40, start + 65_540, start + 131_080, start + 199_999] {
            assert_eq!(found(address), Some((start, 200_000)));
        }
        note_free(start);
        free(start as *mut c_void);
    }
}
