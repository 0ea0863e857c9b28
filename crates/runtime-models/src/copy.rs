//! Copies and fills of strings and memory.

use super::compare::{is_cut, measure};
use super::element::{Element, Elements, Extent, MAX_STRING, byte_size, equal, is_zero, wanted};
use super::logic::{apply, apply_to, branch_on};
use super::table::real;
use super::{answer, ends, give_up, give_up_outside, guarded, set_label};
use core::ffi::c_int;
use runtime_core::build::Value;
use runtime_core::calls::{Args, call_site};
use runtime_core::state::Run;
use runtime_core::{address, memory, repetitions, shadow, state};
use trace::{Label, Op};

/// Copies elements with their labels.
#[inline(always)]
fn copy<E: Element>(run: &Run, to: *mut E, from: *const E, count: usize) {
    // SAFETY: the program asked the library for this copy.
    unsafe { memory::copy_with_labels(run, to.cast(), from.cast(), count.wrapping_mul(E::SIZE)) }
}

/// Copies a string with its labels, its end included.
fn copy_string<E: Element>(run: &Run, to: *mut E, from: *const E, count: usize) {
    copy(run, to, from, count);
    end_at(to.wrapping_add(count));
}

/// Writes the 0 that ends a string.
pub(super) fn end_at<E: Element>(place: *mut E) {
    shadow::clear(place as usize, E::SIZE);
    // SAFETY: the string that the program asked for ends here.
    unsafe { place.write_unaligned(E::ZERO) };
}

/// Fills memory with an element and its label.
fn fill<E: Element>(to: *mut E, c: E, count: usize, label: Label) {
    if E::SIZE == 1 {
        // SAFETY: the program asked the library to fill that much.
        return unsafe { memory::fill_with_label(to.cast(), c.value() as c_int, count, label) };
    }
    // SAFETY: as above.
    (0..count).for_each(|i| unsafe { to.add(i).write_unaligned(c) });
    shadow::clear(to as usize, count.wrapping_mul(E::SIZE));
    if label != 0 {
        let set = |run: &Run| {
            (0..count).for_each(|i| set_label(run, to.wrapping_add(i).cast(), label, E::SIZE))
        };
        guarded(set);
    }
}

/// A copy of the string `from` after the `used` elements of `to` stays within the object that `to`
/// is in: a property, as far as the lengths depend on the input.
fn check_room<E: Element>(run: &Run, to: *const E, used: usize, from: *const E, length: usize) {
    let (before, copied) = (Elements::new(to, used), Elements::new(from, length + 1));
    if !state::active(run)
        || used.max(length) > MAX_STRING
        || !(before.is_symbolic() || copied.is_symbolic())
    {
        return;
    }
    guarded(|run| {
        let whole = Extent::of(from, length, usize::MAX).elements;
        let count = apply(run, Op::Add, 64, measure(run, before), measure(run, whole));
        // A length that is not that of this run says nothing of any other.
        if count.value == (used + length) as u64 {
            let bytes = byte_size::<E>(run, apply_to(run, Op::Add, 64, count, 1));
            address::check_room(run, to as usize, bytes, call_site());
        }
    });
}

/// At most `limit` elements of a string are copied, and on this run `count`: whether it is longer
/// is a branch.
fn branch_on_cut<E: Element>(run: &Run, from: *const E, count: usize, limit: usize) {
    if repetitions::any(run) {
        guarded(|run| is_cut(run, Elements::new(from, count), limit));
    }
}

/// `stpcpy`: returns the end.
pub(super) fn string_to_end<E: Element>(run: &Run, _: &Args, to: *mut E, from: *const E) -> *mut E {
    let count = E::length(from);
    check_room(run, to, 0, from, count);
    ends::note_length(run, from, count, usize::MAX);
    copy_string(run, to, from, count);
    answer(0);
    to.wrapping_add(count)
}

/// `strcpy`
pub(super) fn string<E: Element>(run: &Run, labels: &Args, to: *mut E, from: *const E) -> *mut E {
    string_to_end(run, labels, to, from);
    to
}

/// `stpncpy`: returns where the string ends, or the memory.
pub(super) fn padded_to_end<E: Element>(
    run: &Run,
    _: &Args,
    to: *mut E,
    from: *const E,
    count: usize,
) -> *mut E {
    let used = E::length_within(from, count);
    branch_on_cut(run, from, used, count);
    ends::note_length(run, from, used, count);
    copy(run, to, from, used);
    fill(to.wrapping_add(used), E::ZERO, count - used, 0);
    answer(0);
    to.wrapping_add(used)
}

/// `strncpy`
pub(super) fn padded<E: Element>(
    run: &Run,
    labels: &Args,
    to: *mut E,
    from: *const E,
    count: usize,
) -> *mut E {
    padded_to_end(run, labels, to, from, count);
    to
}

/// `strcat`
pub(super) fn append<E: Element>(run: &Run, _: &Args, to: *mut E, from: *const E) -> *mut E {
    let (used, count) = (E::length(to), E::length(from));
    check_room(run, to, used, from, count);
    ends::note_length(run, to, used, usize::MAX);
    ends::note_length(run, from, count, usize::MAX);
    copy_string(run, to.wrapping_add(used), from, count);
    answer(0);
    to
}

/// `strncat`
pub(super) fn append_within<E: Element>(
    run: &Run,
    _: &Args,
    to: *mut E,
    from: *const E,
    limit: usize,
) -> *mut E {
    let (used, count) = (E::length(to), E::length_within(from, limit));
    branch_on_cut(run, from, count, limit);
    if repetitions::any(run) {
        check_room(run, to, used, from, count);
    }
    ends::note_length(run, to, used, usize::MAX);
    ends::note_length(run, from, count, limit);
    copy_string(run, to.wrapping_add(used), from, count);
    answer(0);
    to
}

/// `memcpy` and `memmove`
#[inline(always)]
pub(super) fn elements<E: Element>(
    run: &Run,
    labels: &Args,
    to: *mut E,
    from: *const E,
    count: usize,
) -> *mut E {
    if labels.label(2) == 0 {
        memory::check_text(run, to as usize, from as usize, count.wrapping_mul(E::SIZE));
    }
    copy(run, to, from, count);
    answer(0);
    to
}

/// `mempcpy`
pub(super) fn elements_to_end<E: Element>(
    run: &Run,
    labels: &Args,
    to: *mut E,
    from: *const E,
    count: usize,
) -> *mut E {
    elements(run, labels, to, from, count).wrapping_add(count)
}

/// `bcopy`
pub(super) fn from_first<E: Element>(
    run: &Run,
    labels: &Args,
    from: *const E,
    to: *mut E,
    count: usize,
) {
    elements(run, labels, to, from, count);
}

/// `memset`
#[inline(always)]
pub(super) fn filled<E: Element>(
    _: &Run,
    labels: &Args,
    to: *mut E,
    c: c_int,
    count: usize,
) -> *mut E {
    let label = match labels.label(1) {
        0 => 0,
        label => guarded(|run| wanted::<E>(run, c, label).label).unwrap_or(0),
    };
    fill(to, E::of_argument(c), count, label);
    answer(0);
    to
}

/// `bzero`
pub(super) fn zeroed<E: Element>(_: &Run, _: &Args, to: *mut E, count: usize) {
    fill(to, E::ZERO, count, 0)
}

/// `memccpy`: where the copy stops is a branch for each element.
pub(super) fn up_to(
    run: &Run,
    _: &Args,
    to: *mut u8,
    from: *const u8,
    c: c_int,
    count: usize,
) -> *mut u8 {
    // SAFETY: the program's own call.
    let result = unsafe { real::memccpy(to, from, c, count) };
    answer(0);
    let copied = if result.is_null() { count } else { result as usize - to as usize };
    if !shadow::any_label(from as usize, copied) {
        shadow::clear(to as usize, copied);
        return result;
    }
    shadow::copy(run, to as usize, from as usize, copied);
    if copied > MAX_STRING {
        give_up_outside();
        return result;
    }
    guarded(|run| {
        let (copy, c) = (Elements::new(to, copied), Value::concrete(c as u8 as u64));
        (0..copied).for_each(|i| {
            branch_on(run, equal::<u8>(run, copy.at(run, i), c));
        });
    });
    result
}

/// `swab`: the two bytes of each pair change places, and so do their labels.
pub(super) fn swapped_pairs(run: &Run, _: &Args, from: *const u8, to: *mut u8, size: isize) {
    for pair in 0..size.max(0) as usize / 2 {
        let (from, to) = (from as usize + pair * 2, to as usize + pair * 2);
        let (first, second) = (shadow::entry(from), shadow::entry(from + 1));
        shadow::set_entry(run, to, second);
        shadow::set_entry(run, to + 1, first);
    }
    // SAFETY: the program's own call.
    unsafe { real::swab(from, to, size) };
}

/// `strlcpy`. The C library may lack it, so the model does the work itself.
pub(super) fn bounded<E: Element>(
    run: &Run,
    _: &Args,
    to: *mut E,
    from: *const E,
    room: usize,
) -> usize {
    append_bounded(run, to, 0, from, room)
}

/// `strlcat`
pub(super) fn append_in_room<E: Element>(
    run: &Run,
    _: &Args,
    to: *mut E,
    from: *const E,
    room: usize,
) -> usize {
    append_bounded(run, to, E::length_within(to, room), from, room)
}

/// Copies a string after the `used` elements of `to`, as far as there is room. Answers with the
/// length that the whole would have.
fn append_bounded<E: Element>(
    run: &Run,
    to: *mut E,
    used: usize,
    from: *const E,
    room: usize,
) -> usize {
    let length = E::length(from);
    answer(0);
    ends::note_length(run, to, used, room);
    let (before, copied) = (Elements::new(to, used), Elements::new(from, length + 1));
    if state::active(run) && (before.is_symbolic() || copied.is_symbolic()) {
        guarded(|run| answer_total(run, before, copied, room));
    }
    if used < room {
        let count = length.min(room - used - 1);
        ends::note_length(run, from, count, room - used - 1);
        copy_string(run, to.wrapping_add(used), from, count);
    }
    used + length
}

/// Both lengths together; whether that fits is a branch.
fn answer_total<E: Element>(run: &Run, before: Elements<E>, copied: Elements<E>, room: usize) {
    let length = copied.count - 1;
    if before.count.max(length) > MAX_STRING {
        return give_up(run);
    }
    let whole = Extent::of(copied.address() as *const E, length, usize::MAX);
    if let Some(end) = whole.open_end(run) {
        branch_on(run, is_zero::<E>(run, end));
    }
    let total = apply(run, Op::Add, 64, measure(run, before), measure(run, whole.elements));
    branch_on(run, apply(run, Op::Ult, 64, total, Value::concrete(room as u64)));
    super::answer_checked(run, total, (before.count + length) as u64);
}
