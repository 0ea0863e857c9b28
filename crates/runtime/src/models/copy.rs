//! Copies and fills of strings and memory.

use super::compare::{is_cut, measure};
use super::element::{Element, Elements, Extent, MAX_STRING, byte_size, equal, wanted};
use super::logic::{apply, apply_to, branch_on};
use super::table::real;
use super::{answer, call_site, give_up, give_up_outside, guarded, set_label};
use crate::build::Value;
use crate::calls::Args;
use crate::{address, memory, shadow, state, stretches};
use core::ffi::c_int;
use trace::{Label, Op};

/// Copies elements with their labels.
#[inline(always)]
unsafe fn copy<E: Element>(to: *mut E, from: *const E, count: usize) {
    unsafe { memory::copy_with_labels(to.cast(), from.cast(), count.wrapping_mul(E::SIZE)) }
}

/// Copies a string with its labels, its end included.
unsafe fn copy_string<E: Element>(to: *mut E, from: *const E, count: usize) {
    unsafe {
        copy(to, from, count);
        end_at(to.add(count));
    }
}

/// Writes the 0 that ends a string.
pub(super) unsafe fn end_at<E: Element>(place: *mut E) {
    unsafe {
        shadow::clear(place as usize, E::SIZE);
        place.write_unaligned(E::ZERO);
    }
}

/// Fills memory with an element and its label.
unsafe fn fill<E: Element>(to: *mut E, c: E, count: usize, label: Label) {
    unsafe {
        if E::SIZE == 1 {
            return memory::fill_with_label(to.cast(), c.value() as c_int, count, label);
        }
        (0..count).for_each(|i| to.add(i).write_unaligned(c));
        shadow::clear(to as usize, count.wrapping_mul(E::SIZE));
        if label != 0 {
            let set = || (0..count).for_each(|i| set_label(to.add(i).cast(), label, E::SIZE));
            guarded(set);
        }
    }
}

/// A copy of the string `from` after the `used` elements of `to` stays within the object that `to`
/// is in: a property, as far as the lengths depend on the input.
unsafe fn check_room<E: Element>(to: *const E, used: usize, from: *const E, length: usize) {
    unsafe {
        // SAFETY: the caller has measured both strings.
        let (before, copied) = (Elements::new(to, used), Elements::new(from, length + 1));
        if !state::active()
            || used.max(length) > MAX_STRING
            || !(before.is_symbolic() || copied.is_symbolic())
        {
            return;
        }
        guarded(|| {
            let whole = Extent::of(from, length, usize::MAX).elements;
            let count = apply(Op::Add, 64, measure(before), measure(whole));
            let bytes = byte_size::<E>(apply_to(Op::Add, 64, count, 1));
            address::check_room(to as usize, bytes, call_site());
        });
    }
}

/// At most `limit` elements of a string are copied, and on this run `count`: whether it is longer
/// is a branch.
unsafe fn branch_on_cut<E: Element>(from: *const E, count: usize, limit: usize) {
    unsafe {
        if stretches::any() {
            // SAFETY: the caller has measured the string.
            guarded(|| is_cut(Elements::new(from, count), limit));
        }
    }
}

/// `stpcpy`: returns the end.
pub(super) unsafe fn string_to_end<E: Element>(_: &Args, to: *mut E, from: *const E) -> *mut E {
    unsafe {
        let count = E::length(from);
        check_room(to, 0, from, count);
        copy_string(to, from, count);
        answer(0);
        to.add(count)
    }
}

/// `strcpy`
pub(super) unsafe fn string<E: Element>(labels: &Args, to: *mut E, from: *const E) -> *mut E {
    unsafe {
        string_to_end(labels, to, from);
        to
    }
}

/// `stpncpy`: returns where the string ends, or the memory.
pub(super) unsafe fn padded_to_end<E: Element>(_: &Args, to: *mut E, from: *const E, count: usize) -> *mut E {
    unsafe {
        let used = E::length_within(from, count);
        branch_on_cut(from, used, count);
        copy(to, from, used);
        fill(to.add(used), E::ZERO, count - used, 0);
        answer(0);
        to.add(used)
    }
}

/// `strncpy`
pub(super) unsafe fn padded<E: Element>(labels: &Args, to: *mut E, from: *const E, count: usize) -> *mut E {
    unsafe {
        padded_to_end(labels, to, from, count);
        to
    }
}

/// `strcat`
pub(super) unsafe fn append<E: Element>(_: &Args, to: *mut E, from: *const E) -> *mut E {
    unsafe {
        let (used, count) = (E::length(to), E::length(from));
        check_room(to, used, from, count);
        copy_string(to.add(used), from, count);
        answer(0);
        to
    }
}

/// `strncat`
pub(super) unsafe fn append_within<E: Element>(_: &Args, to: *mut E, from: *const E, limit: usize) -> *mut E {
    unsafe {
        let (used, count) = (E::length(to), E::length_within(from, limit));
        branch_on_cut(from, count, limit);
        if stretches::any() {
            check_room(to, used, from, count);
        }
        copy_string(to.add(used), from, count);
        answer(0);
        to
    }
}

/// `memcpy` and `memmove`
#[inline(always)]
pub(super) unsafe fn elements<E: Element>(labels: &Args, to: *mut E, from: *const E, count: usize) -> *mut E {
    unsafe {
        if labels.label(2) == 0 {
            memory::check_text(to as usize, from.cast(), count.wrapping_mul(E::SIZE));
        }
        copy(to, from, count);
        answer(0);
        to
    }
}

/// `mempcpy`
pub(super) unsafe fn elements_to_end<E: Element>(
    labels: &Args,
    to: *mut E,
    from: *const E,
    count: usize,
) -> *mut E {
    unsafe { elements(labels, to, from, count).add(count) }
}

/// `bcopy`
pub(super) unsafe fn from_first<E: Element>(labels: &Args, from: *const E, to: *mut E, count: usize) {
    unsafe {
        elements(labels, to, from, count);
    }
}

/// `memset`
#[inline(always)]
pub(super) unsafe fn filled<E: Element>(labels: &Args, to: *mut E, c: c_int, count: usize) -> *mut E {
    unsafe {
        let label = match labels.label(1) {
            0 => 0,
            label => guarded(|| wanted::<E>(c, label).label).unwrap_or(0),
        };
        fill(to, E::of_argument(c), count, label);
        answer(0);
        to
    }
}

/// `bzero`
pub(super) unsafe fn zeroed<E: Element>(_: &Args, to: *mut E, count: usize) {
    unsafe { fill(to, E::ZERO, count, 0) }
}

/// `memccpy`: where the copy stops is a branch for each element.
pub(super) unsafe fn up_to(_: &Args, to: *mut u8, from: *const u8, c: c_int, count: usize) -> *mut u8 {
    unsafe {
        let result = real::memccpy(to, from, c, count);
        answer(0);
        let copied = if result.is_null() { count } else { result as usize - to as usize };
        if !shadow::any_label(from as usize, copied) {
            shadow::clear(to as usize, copied);
            return result;
        }
        shadow::copy(to as usize, from as usize, copied);
        if copied > MAX_STRING {
            give_up_outside();
            return result;
        }
        guarded(|| {
            // SAFETY: the library has just written them.
            let (copy, c) = (Elements::new(to, copied), Value::concrete(c as u8 as u64));
            (0..copied).for_each(|i| {
                branch_on(equal::<u8>(copy.at(i), c));
            });
        });
        result
    }
}

/// `swab`: the two bytes of each pair change places, and so do their labels.
pub(super) unsafe fn swapped_pairs(_: &Args, from: *const u8, to: *mut u8, size: isize) {
    unsafe {
        for pair in 0..size.max(0) as usize / 2 {
            let (from, to) = (from as usize + pair * 2, to as usize + pair * 2);
            let (first, second) = (shadow::entry(from), shadow::entry(from + 1));
            shadow::set_entry(to, second);
            shadow::set_entry(to + 1, first);
        }
        real::swab(from, to, size);
    }
}

/// `strlcpy`. The C library may lack it, so the model does the work itself.
pub(super) unsafe fn bounded<E: Element>(_: &Args, to: *mut E, from: *const E, room: usize) -> usize {
    unsafe { append_bounded(to, 0, from, room) }
}

/// `strlcat`
pub(super) unsafe fn append_in_room<E: Element>(_: &Args, to: *mut E, from: *const E, room: usize) -> usize {
    unsafe { append_bounded(to, E::length_within(to, room), from, room) }
}

/// Copies a string after the `used` elements of `to`, as far as there is room. Answers with the
/// length that the whole would have.
unsafe fn append_bounded<E: Element>(to: *mut E, used: usize, from: *const E, room: usize) -> usize {
    unsafe {
        let length = E::length(from);
        answer(0);
        // SAFETY: both strings have been measured.
        let (before, copied) = (Elements::new(to, used), Elements::new(from, length + 1));
        if state::active() && (before.is_symbolic() || copied.is_symbolic()) {
            guarded(|| answer_total(before, copied, room));
        }
        if used < room {
            copy_string(to.add(used), from, length.min(room - used - 1));
        }
        used + length
    }
}

/// Both lengths together; whether that fits is a branch.
unsafe fn answer_total<E: Element>(before: Elements<E>, copied: Elements<E>, room: usize) {
    unsafe {
        let length = copied.count - 1;
        if before.count.max(length) > MAX_STRING {
            return give_up();
        }
        let whole = Extent::of(copied.address() as *const E, length, usize::MAX).elements;
        let total = apply(Op::Add, 64, measure(before), measure(whole));
        branch_on(apply(Op::Ult, 64, total, Value::concrete(room as u64)));
        super::answer_checked(total, (before.count + length) as u64);
    }
}
