//! Memory of which only the start is known: blocks that libraries have allocated, mappings,
//! thread-local variables, arrays whose size is no constant. It ends at the latest where another
//! object begins, or where nothing is mapped.

use super::known;
use super::reach::is_on_stack;
use core::ops::Range;
use runtime_core::state::Run;
use runtime_core::{objects, os, shadow};

/// Nothing is expected to be larger.
const MAX_BYTES: usize = 1 << 30;
const PAGE: usize = 4096;

/// Whether a byte of the memory has a label. What is not believed does not count.
pub fn is_symbolic(run: &Run, start: usize) -> bool {
    let mut rest = start..end_at_most(start);
    let mut label = shadow::next_label(run, rest.clone());
    let end = label.filter(|_| !is_on_stack(start)).and_then(|_| block_end(start));
    while let Some(at) = label {
        if !reaches(run, start, end, rest.start..at + 1) {
            return false;
        }
        if shadow::is_believed(run, at) {
            return true;
        }
        rest.start = at + 1;
        label = shadow::next_label(run, rest.clone());
    }
    false
}

/// Whether the memory, which may have a known end, goes on over these bytes.
fn reaches(run: &Run, start: usize, end: Option<usize>, bytes: Range<usize>) -> bool {
    let is_within = match end {
        Some(end) => bytes.end <= end,
        None => !objects::any_begins(run, bytes.start.max(start + 1)..bytes.end),
    };
    let last = bytes.end - 1;
    let is_stack = is_on_stack(bytes.start) && is_on_stack(last);
    let last_word = last & !(size_of::<usize>() - 1);
    is_within && (is_stack || os::is_mapped(bytes.start, bytes.len()) && os::is_readable(last_word))
}

/// An object in a frame of code that is not followed ends before the frame of its caller.
fn end_at_most(start: usize) -> usize {
    let border = known().border.get();
    let is_below = is_on_stack(start) && start < border;
    if is_below { border } else { start.saturating_add(MAX_BYTES) }
}

/// The head of a block of the C library's heap, just before the block.
#[derive(Clone, Copy)]
struct Head(usize);

impl Head {
    const PREVIOUS_IN_USE: usize = 1;
    const IS_MAPPED: usize = 2;
    const FLAGS: usize = 7;
    const ALIGNMENT: usize = 16;

    /// The word at the address; `None` if there is no memory.
    fn at(address: usize) -> Option<Head> {
        // SAFETY: there is memory, and blocks are aligned for words.
        os::is_readable(address).then(|| Head(unsafe { (address as *const usize).read() }))
    }

    /// Bytes from this head to the next, if it looks like one.
    fn size(self) -> Option<usize> {
        let size = self.0 & !Head::FLAGS;
        (size.is_multiple_of(Head::ALIGNMENT) && (Head::ALIGNMENT..MAX_BYTES).contains(&size))
            .then_some(size)
    }

    fn has(self, flag: usize) -> bool {
        self.0 & flag != 0
    }
}

/// Where a block of the heap ends that begins there. That it is one is seen from the heads of two
/// blocks which fit each other.
pub fn block_end(start: usize) -> Option<usize> {
    let place = start.checked_sub(size_of::<usize>())?;
    if !start.is_multiple_of(Head::ALIGNMENT) {
        return None;
    }
    let head = Head::at(place)?;
    let next = place + head.size()?;
    if head.has(Head::IS_MAPPED) {
        let end = next - size_of::<usize>();
        return end.is_multiple_of(PAGE).then_some(end);
    }
    let after = Head::at(next)?;
    (after.has(Head::PREVIOUS_IN_USE) && after.size().is_some()).then_some(next)
}
