//! What a sanitizer says about a run, in memory of the segment: what the program prints is no
//! report, and what it does to its standard error loses none.

use crate::state::Run;
use core::sync::atomic::{AtomicU32, Ordering};

/// Appends text to the reports of this run. The sanitized variant has no tables, so that the place
/// of their data is free. The sanitizer may hold any lock now, and its functions stand in the place
/// of the C library's: none is called.
///
/// # Safety
/// The text has this length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_keep_report(text: *const u8, len: usize) {
    let header = Run::current().segment.header();
    if header.is_null() {
        return;
    }
    // SAFETY: the segment is mapped as long as the process lives; other threads change the length
    // only atomically.
    let (region, used) =
        unsafe { ((*header).data, AtomicU32::from_ptr(&raw mut (*header).data_len)) };
    let end = |at: u32| (u64::from(at) + len as u64).min(region.capacity) as u32;
    let Ok(start) = used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| Some(end(at)))
    else {
        return;
    };
    let to = header.cast::<u8>().wrapping_add(region.offset as usize);
    let mut at = start;
    while at < end(start) {
        // SAFETY: this part of the region is this call's alone, and no longer than the text.
        unsafe { to.add(at as usize).write_volatile(*text.add((at - start) as usize)) };
        at += 1;
    }
}
