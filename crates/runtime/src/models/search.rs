//! Searches in strings and memory: one expression for the place that was found.

use super::element::{
    Element, Elements, Extent, MAX_STRING, byte_size, equal, is_zero, mapped_within, wanted,
};
use super::logic::*;
use super::{answer_checked, give_up};
use crate::build::Value;
use crate::calls::Args;
use crate::stretches::Passed;
use crate::texts::{self, Bytes};
use core::ffi::c_int;
use trace::{Op, text};

/// More comparisons than this are not put into one expression.
pub(super) const MAX_COMPARISONS: usize = 1 << 15;

/// What a search gives that finds nothing.
const NOWHERE: Value = Value::concrete(0);

/// Elements that are searched.
#[derive(Clone, Copy)]
pub(super) struct Text<E> {
    pub elements: Elements<E>,
    /// A 0 among them ends the text, and so does their end.
    terminated: bool,
    /// Where the string ends on this run, though not on every input.
    open_end: Option<Value>,
    pub passed: Passed,
}

impl<E: Element> Text<E> {
    fn of_memory(elements: Elements<E>) -> Text<E> {
        Text { elements, terminated: false, open_end: None, passed: Passed::NONE }
    }

    /// # Safety
    /// The library has just read the string.
    pub(super) unsafe fn of_string(start: *const E) -> Text<E> {
        let extent = unsafe { Extent::of_string(start) };
        let text = Text::of_memory(extent.elements);
        Text { terminated: true, open_end: extent.open_end(), ..text }
    }

    pub(super) fn at(&self, i: usize) -> Value {
        self.elements.at(i)
    }

    pub(super) fn count(&self) -> usize {
        self.elements.count
    }

    /// The address of element `i`.
    unsafe fn place(&self, i: usize) -> Value {
        unsafe { self.address(self.passed.place(i)) }
    }

    unsafe fn address(&self, index: Value) -> Value {
        unsafe { apply_to(Op::Add, 64, byte_size::<E>(index), self.elements.address() as u64) }
    }

    unsafe fn ends(&self, i: usize) -> Value {
        unsafe { if self.terminated { is_zero::<E>(self.at(i)) } else { FALSE } }
    }

    /// `r(i) = if hit(i) { place(i) } else if text ends at i { none } else { r(i + 1) }`
    pub(super) unsafe fn first(&self, none: Value, hit: impl Fn(usize) -> Value) -> Value {
        unsafe {
            if self.passed.any() {
                let stops = |i: &usize| branch_on(hit(*i)) || branch_on(self.ends(*i));
                let stop = (0..self.count()).find(stops);
                return stop.filter(|i| branch_on(hit(*i))).map_or(none, |i| self.place(i));
            }
            let mut rest = none;
            for i in (0..self.count()).rev() {
                let later = choose(64, self.ends(i), none, rest);
                rest = choose(64, hit(i), self.place(i), later);
            }
            rest
        }
    }

    /// ```text
    /// r(i) = if text ends at i { none } else if r(i + 1) found { r(i + 1) }
    ///        else if hit(i) { place(i) } else { none }
    /// ```
    unsafe fn last(&self, none: Value, hit: impl Fn(usize) -> Value) -> Value {
        unsafe {
            if self.passed.any() {
                let end = (0..self.count()).find(|i| branch_on(self.ends(*i)));
                let found = (0..end.unwrap_or(self.count())).rev().find(|i| branch_on(hit(*i)));
                return found.map_or(none, |i| self.address(self.passed.last_place(i)));
            }
            let (mut rest, mut found) = (none, FALSE);
            for i in (0..self.count()).rev() {
                let (end, here) = (self.ends(i), hit(i));
                let later = choose(64, found, rest, choose(64, here, self.place(i), none));
                rest = choose(64, end, none, later);
                found = both(negated(end), either(found, here));
            }
            rest
        }
    }

    /// Number of elements before the first that stops.
    pub(super) unsafe fn length_before(&self, stops: impl Fn(Value) -> Value) -> Value {
        unsafe {
            if self.passed.any() {
                let stop = (0..self.count()).find(|i| branch_on(stops(self.at(*i))));
                return self.passed.place(stop.unwrap_or(self.count()));
            }
            let mut rest = Value::concrete(self.count() as u64);
            for i in (0..self.count()).rev() {
                rest = choose(64, stops(self.at(i)), Value::concrete(i as u64), rest);
            }
            rest
        }
    }

    /// The index of the pattern, in one node, or the text's length. `None` if formulas over the
    /// elements will do.
    pub(super) unsafe fn index_of(&self, pattern: Elements<E>, flags: u16) -> Option<Value> {
        unsafe {
            if self.passed.any() {
                return None;
            }
            texts::find(self.elements.bytes()?, pattern.bytes()?, flags)
        }
    }

    /// The same as a place, or `none`.
    pub(super) unsafe fn place_of(&self, pattern: Elements<E>, flags: u16, none: Value) -> Option<Value> {
        unsafe {
            let index = self.index_of(pattern, flags)?;
            let nowhere = apply_to(Op::Eq, 64, index, self.count() as u64);
            Some(choose(64, nowhere, none, self.address(index)))
        }
    }

    /// The same for one element, unless it is symbolic.
    unsafe fn place_of_one(&self, c: Value, flags: u16, none: Value) -> Option<Value> {
        unsafe {
            if E::SIZE != 1 || c.label != 0 || self.passed.any() {
                return None;
            }
            let c = [c.value as u8];
            let index = texts::find(self.elements.bytes()?, Bytes { start: c.as_ptr(), size: 1 }, flags)?;
            let nowhere = apply_to(Op::Eq, 64, index, self.count() as u64);
            Some(choose(64, nowhere, none, self.address(index)))
        }
    }

    fn is_symbolic(&self) -> bool {
        self.elements.is_symbolic() || self.open_end.is_some_and(|end| end.label != 0)
    }

    /// Answers with `expression(text)` if the text is short and it or the other arguments are
    /// symbolic.
    pub(super) unsafe fn answer(self, others: bool, result: u64, expression: impl FnOnce(Text<E>) -> Value) {
        unsafe {
            if !others && !self.is_symbolic() {
                return;
            }
            if self.count() > MAX_STRING {
                return give_up();
            }
            // The string ends where it ends on this run, or before.
            if let Some(end) = self.open_end {
                branch_on(is_zero::<E>(end));
            }
            let text = Text { passed: self.elements.passed(), ..self };
            answer_checked(expression(text), result);
        }
    }
}

/// `memchr`
pub(super) unsafe fn first_in_memory<E: Element>(
    labels: &Args,
    from: *const E,
    c: c_int,
    count: usize,
    result: *mut E,
) {
    unsafe {
        let seen = if result.is_null() { count } else { index(from, result) + 1 };
        // SAFETY: so many elements were searched.
        if labels.label(1) == 0 && !Elements::new(from, seen).is_symbolic() {
            return;
        }
        // Elements after the match need not exist.
        let mapped = mapped_within(from, seen, count);
        let searched = if mapped == count { count } else { seen };
        forward(labels, Elements::new(from, searched), c, mapped < count, result);
    }
}

/// `rawmemchr`
pub(super) unsafe fn first_without_end<E: Element>(labels: &Args, from: *const E, c: c_int, result: *mut E) {
    // SAFETY: the library searched as far as it found the element.
    unsafe { forward(labels, Elements::new(from, index(from, result) + 1), c, true, result) }
}

fn index<E: Element>(from: *const E, result: *const E) -> usize {
    (result as usize).wrapping_sub(from as usize) / E::SIZE
}

/// A search in elements. If there may be more after them, the last is the one that was found.
unsafe fn forward<E: Element>(labels: &Args, searched: Elements<E>, c: c_int, more: bool, result: *mut E) {
    unsafe {
        let c = wanted::<E>(c, labels.label(1));
        Text::of_memory(searched).answer(c.label != 0, result as u64, |text| {
            let hit = |i| equal::<E>(text.at(i), c);
            if more {
                branch_on(hit(searched.count.wrapping_sub(1)));
            }
            let one = text.place_of_one(c, 0, NOWHERE);
            one.unwrap_or_else(|| text.first(NOWHERE, hit))
        });
    }
}

/// `memrchr`
pub(super) unsafe fn last_in_memory<E: Element>(
    labels: &Args,
    from: *const E,
    c: c_int,
    count: usize,
    result: *mut E,
) {
    unsafe {
        let c = wanted::<E>(c, labels.label(1));
        // SAFETY: the call promises that so many elements are there.
        let text = Text::of_memory(Elements::new(from, count));
        text.answer(c.label != 0, result as u64, |text| {
            let one = text.place_of_one(c, text::LAST, NOWHERE);
            one.unwrap_or_else(|| text.last(NOWHERE, |i| equal::<E>(text.at(i), c)))
        });
    }
}

/// `strchr`: the string's end is a match for 0.
pub(super) unsafe fn first<E: Element>(labels: &Args, start: *const E, c: c_int, result: *mut E) {
    unsafe {
        let c = wanted::<E>(c, labels.label(1));
        Text::of_string(start).answer(c.label != 0, result as u64, |text| {
            let none = choose(64, is_zero::<E>(c), text.place(text.count()), NOWHERE);
            let ends = if c.value == 0 { 0 } else { text::TERMINATED };
            let one = text.place_of_one(c, ends, none);
            one.unwrap_or_else(|| text.first(none, |i| equal::<E>(text.at(i), c)))
        });
    }
}

/// `strchrnul`
pub(super) unsafe fn first_or_end<E: Element>(labels: &Args, start: *const E, c: c_int, result: *mut E) {
    unsafe {
        let label = labels.label(1);
        let stops = [E::of_argument(c), E::ZERO];
        let (c, stops) = (wanted::<E>(c, label), Elements::new(stops.as_ptr(), 2));
        Text::of_string(start).answer(label != 0, result as u64, |text| {
            let none = text.place(text.count());
            let one = if label == 0 { text.place_of(stops, text::SET, none) } else { None };
            let stops = |i| either(equal::<E>(text.at(i), c), is_zero::<E>(text.at(i)));
            one.unwrap_or_else(|| text.first(none, stops))
        });
    }
}

/// `strrchr`
pub(super) unsafe fn last<E: Element>(labels: &Args, start: *const E, c: c_int, result: *mut E) {
    unsafe {
        let c = wanted::<E>(c, labels.label(1));
        Text::of_string(start).answer(c.label != 0, result as u64, |text| {
            if branch_on(is_zero::<E>(c)) {
                let end = text.place(text.count());
                let one = text.place_of_one(FALSE, 0, end);
                return one.unwrap_or_else(|| text.first(end, |i| is_zero::<E>(text.at(i))));
            }
            let one = text.place_of_one(c, text::TERMINATED | text::LAST, NOWHERE);
            one.unwrap_or_else(|| text.last(NOWHERE, |i| equal::<E>(text.at(i), c)))
        });
    }
}

/// `strstr`
pub(super) unsafe fn string<E: Element>(_: &Args, start: *const E, pattern: *const E, result: *mut E) {
    unsafe {
        // SAFETY: the library read both strings.
        let pattern = Elements::new(pattern, E::length(pattern));
        Text::of_string(start).find(pattern, false, result as u64);
    }
}

/// `strcasestr`
pub(super) unsafe fn folded_string<E: Element>(_: &Args, start: *const E, pattern: *const E, result: *mut E) {
    unsafe {
        // SAFETY: the library read both strings.
        let (text, pattern) = (Text::of_string(start), Elements::new(pattern, E::length(pattern)));
        if text.is_symbolic() && !E::only_ascii_has_case() {
            return give_up();
        }
        text.find(pattern, true, result as u64);
    }
}

/// `memmem`
pub(super) unsafe fn memory<E: Element>(
    _: &Args,
    start: *const E,
    count: usize,
    pattern: *const E,
    pattern_count: usize,
    result: *mut E,
) {
    unsafe {
        // SAFETY: the call promises that so many elements are there.
        let text = Text::of_memory(Elements::new(start, count));
        text.find(Elements::new(pattern, pattern_count), false, result as u64);
    }
}

impl<E: Element> Text<E> {
    /// Answers a search for a pattern; with `folded` the case of ASCII letters does not count.
    unsafe fn find(self, pattern: Elements<E>, folded: bool, result: u64) {
        unsafe {
            let others = pattern.is_symbolic();
            let too_long = self.count().saturating_mul(pattern.count) > MAX_COMPARISONS;
            if too_long && others {
                return give_up();
            }
            self.answer(others, result, |text| {
                if let Some(one) = text.find_in_one(pattern, folded) {
                    return one;
                }
                if too_long {
                    give_up();
                    return Value::concrete(result);
                }
                text.find_by_elements(pattern, folded)
            });
        }
    }

    unsafe fn find_in_one(&self, pattern: Elements<E>, folded: bool) -> Option<Value> {
        unsafe {
            if pattern.count == 0 || pattern.is_symbolic() {
                return None;
            }
            let ends = if self.terminated { text::TERMINATED } else { 0 };
            self.place_of(pattern, ends | if folded { text::FOLD } else { 0 }, NOWHERE)
        }
    }

    unsafe fn find_by_elements(&self, pattern: Elements<E>, folded: bool) -> Value {
        unsafe {
            let fold = |c: Value| if folded { lower::<E>(c) } else { c };
            let matches_at = |i: usize| {
                (0..pattern.count).fold(TRUE, |matches, j| {
                    both(matches, equal::<E>(fold(self.at(i + j)), fold(pattern.at(j))))
                })
            };
            let places = (self.count() + 1).saturating_sub(pattern.count);
            let none = if pattern.count == 0 { self.place(0) } else { NOWHERE };
            Text { elements: self.elements.first(places), ..*self }.first(none, matches_at)
        }
    }
}
