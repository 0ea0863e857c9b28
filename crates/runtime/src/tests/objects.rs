//! Heap objects: which one an address belongs to, and how large it is.

use super::Run;
use crate::objects::{self, note_allocation, note_free, size_in};
use proptest::prelude::*;
use std::ffi::c_void;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(object: *mut c_void);
}

/// Start and size of the object that an address belongs to.
fn found(address: usize) -> Option<(usize, usize)> {
    // SAFETY: marked objects are alive.
    unsafe { objects::find(address) }.map(|object| (object.start, object.size))
}

#[test]
fn heap_objects_have_the_size_that_was_asked_for() {
    let _run = Run::start(b"ab");
    let sizes = (0..70).chain([1000, 4096, 65_534, 65_535, 65_536, 131_072, 200_000, 1 << 20]);
    for size in sizes {
        // SAFETY: the object is alive while it is marked.
        unsafe {
            let object = malloc(size);
            let start = object as usize;
            note_allocation(start, Some(size));
            // Just beyond it, too: an access there is meant for it.
            for address in [start, start + size / 2, start + size] {
                assert_eq!(found(address), Some((start, size)), "{address:x} of {size} bytes");
            }
            note_allocation(start, None);
            assert!(found(start).is_some_and(|(_, block)| block >= size));
            note_free(start);
            assert_eq!(found(start), None);
            free(object);
        }
    }
}

proptest! {
    /// What the allocator rounds up is told apart from what another object left behind.
    #[test]
    fn sizes_are_what_blocks_and_marks_say(size in 0usize..300_000, spare in 0usize..64, other in 100usize..60_000) {
        let mark = |size: usize| (size % 65_535) as u16 + 1;
        prop_assert_eq!(size_in(size + spare, mark(size)), size);
        let small = size % 60_000;
        if small > other + 64 || other > small {
            prop_assert_eq!(size_in(small, mark(other)), small);
        }
    }
}
