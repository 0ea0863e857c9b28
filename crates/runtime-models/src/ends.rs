//! Where strings end on this run.
//!
//! A kernel that says what the library did for strings as long as they are on this run, and not
//! for longer and shorter ones, says here how long they are: each element before the end is not 0,
//! and the one there is. It stands before the kernel's effect, but after what the kernel asks of
//! other lengths.

use super::element::{Element, Elements, is_zero};
use super::guarded;
use super::logic::branch_on;
use runtime_core::facts::domains;
use runtime_core::state::{self, Run};

/// The elements of a string that the library looked at: its end, too, if that is within the limit.
fn seen<E: Element>(start: *const E, length: usize, limit: usize) -> Elements<E> {
    Elements::new(start, length.saturating_add(1).min(limit))
}

/// A string of which at most `limit` elements count has `length` of them: a branch for each that
/// the input has a say in. The guard is held.
pub(super) fn branch_on_length<E: Element>(
    run: &Run,
    start: *const E,
    length: usize,
    limit: usize,
) {
    let seen = seen(start, length, limit);
    if seen.is_symbolic() {
        (0..seen.count).for_each(|i| {
            let element = seen.at(run, i);
            // Mostly a loop of the program has asked for the end before.
            if element.value == 0 || !domains::excludes(run, element.label, 0) {
                branch_on(run, is_zero::<E>(run, element));
            }
        });
    }
}

/// The same without the guard.
pub(super) fn note_length<E: Element>(run: &Run, start: *const E, length: usize, limit: usize) {
    if state::active(run) && seen(start, length, limit).is_symbolic() {
        guarded(|run| branch_on_length(run, start, length, limit));
    }
}

/// The elements of a string that is as long as on this run. The library has just read it, or is
/// about to; the guard is held.
pub(super) fn elements<E: Element>(run: &Run, start: *const E) -> Elements<E> {
    let length = E::length(start);
    branch_on_length(run, start, length, usize::MAX);
    Elements::new(start, length)
}

/// Whether the input has a say in a string or in where it ends.
pub(super) fn is_symbolic<E: Element>(start: *const E) -> bool {
    seen(start, E::length(start), usize::MAX).is_symbolic()
}
