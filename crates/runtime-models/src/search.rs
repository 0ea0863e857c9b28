//! Searches in strings and memory: one expression for the place that was found.

use super::element::{
    Element, Elements, Extent, MAX_STRING, byte_size, equal, is_zero, mapped_within, wanted,
};
use super::logic::*;
use super::{answer_checked, ends, give_up};
use core::ffi::c_int;
use runtime_core::build::Value;
use runtime_core::calls::Args;
use runtime_core::repetitions::Passed;
use runtime_core::state::Run;
use runtime_core::texts::{self, Bytes};
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
    pub(super) fn of_string(run: &Run, start: *const E) -> Text<E> {
        let extent = Extent::of_string(run, start);
        let text = Text::of_memory(extent.elements);
        Text { terminated: true, open_end: extent.open_end(run), ..text }
    }

    pub(super) fn at(&self, run: &Run, i: usize) -> Value {
        self.elements.at(run, i)
    }

    pub(super) fn count(&self) -> usize {
        self.elements.count
    }

    /// The address of element `i`.
    fn place(&self, run: &Run, i: usize) -> Value {
        self.address(run, self.passed.place(run, i))
    }

    fn address(&self, run: &Run, index: Value) -> Value {
        apply_to(run, Op::Add, 64, byte_size::<E>(run, index), self.elements.address() as u64)
    }

    fn ends(&self, run: &Run, i: usize) -> Value {
        if self.terminated { is_zero::<E>(run, self.at(run, i)) } else { FALSE }
    }

    /// `r(i) = if hit(i) { place(i) } else if text ends at i { none } else { r(i + 1) }`
    pub(super) fn first(&self, run: &Run, none: Value, hit: impl Fn(usize) -> Value) -> Value {
        if self.passed.any() {
            let stops = |i: &usize| branch_on(run, hit(*i)) || branch_on(run, self.ends(run, *i));
            let stop = (0..self.count()).find(stops);
            return stop.filter(|i| branch_on(run, hit(*i))).map_or(none, |i| self.place(run, i));
        }
        let mut rest = none;
        for i in (0..self.count()).rev() {
            let later = choose(run, 64, self.ends(run, i), none, rest);
            rest = choose(run, 64, hit(i), self.place(run, i), later);
        }
        rest
    }

    /// ```text
    /// r(i) = if text ends at i { none } else if r(i + 1) found { r(i + 1) }
    ///        else if hit(i) { place(i) } else { none }
    /// ```
    fn last(&self, run: &Run, none: Value, hit: impl Fn(usize) -> Value) -> Value {
        if self.passed.any() {
            let end = (0..self.count()).find(|i| branch_on(run, self.ends(run, *i)));
            let found = (0..end.unwrap_or(self.count())).rev().find(|i| branch_on(run, hit(*i)));
            return found.map_or(none, |i| self.address(run, self.passed.last_place(run, i)));
        }
        let (mut rest, mut found) = (none, FALSE);
        for i in (0..self.count()).rev() {
            let (end, here) = (self.ends(run, i), hit(i));
            let later =
                choose(run, 64, found, rest, choose(run, 64, here, self.place(run, i), none));
            rest = choose(run, 64, end, none, later);
            found = both(run, negated(run, end), either(run, found, here));
        }
        rest
    }

    /// Number of elements before the first that stops.
    pub(super) fn length_before(&self, run: &Run, stops: impl Fn(Value) -> Value) -> Value {
        if self.passed.any() {
            let stop = (0..self.count()).find(|i| branch_on(run, stops(self.at(run, *i))));
            return self.passed.place(run, stop.unwrap_or(self.count()));
        }
        let mut rest = Value::concrete(self.count() as u64);
        for i in (0..self.count()).rev() {
            rest = choose(run, 64, stops(self.at(run, i)), Value::concrete(i as u64), rest);
        }
        rest
    }

    /// The index of the pattern, in one node, or the text's length. `None` if formulas over the
    /// elements will do.
    pub(super) fn index_of(&self, run: &Run, pattern: Elements<E>, flags: u16) -> Option<Value> {
        if self.passed.any() {
            return None;
        }
        texts::find(run, self.elements.bytes()?, pattern.bytes()?, flags)
    }

    /// The same as a place, or `none`.
    pub(super) fn place_of(
        &self,
        run: &Run,
        pattern: Elements<E>,
        flags: u16,
        none: Value,
    ) -> Option<Value> {
        let index = self.index_of(run, pattern, flags)?;
        let nowhere = apply_to(run, Op::Eq, 64, index, self.count() as u64);
        Some(choose(run, 64, nowhere, none, self.address(run, index)))
    }

    /// The same for one element, unless it is symbolic.
    fn place_of_one(&self, run: &Run, c: Value, flags: u16, none: Value) -> Option<Value> {
        if E::SIZE != 1 || c.label != 0 || self.passed.any() {
            return None;
        }
        let c = [c.value as u8];
        let index = texts::find(
            run,
            self.elements.bytes()?,
            Bytes { start: c.as_ptr() as usize, size: 1 },
            flags,
        )?;
        let nowhere = apply_to(run, Op::Eq, 64, index, self.count() as u64);
        Some(choose(run, 64, nowhere, none, self.address(run, index)))
    }

    fn is_symbolic(&self) -> bool {
        self.elements.is_symbolic() || self.open_end.is_some_and(|end| end.label != 0)
    }

    /// Answers with `expression(text)` if the text is short and it or the other arguments are
    /// symbolic.
    pub(super) fn answer(
        self,
        run: &Run,
        others: bool,
        result: u64,
        expression: impl FnOnce(Text<E>) -> Value,
    ) {
        if !others && !self.is_symbolic() {
            return;
        }
        if self.count() > MAX_STRING {
            return give_up(run);
        }
        // The string ends where it ends on this run, or before.
        if let Some(end) = self.open_end {
            branch_on(run, is_zero::<E>(run, end));
        }
        let text = Text { passed: self.elements.passed(run), ..self };
        answer_checked(run, expression(text), result);
    }
}

/// `memchr`
pub(super) fn first_in_memory<E: Element>(
    run: &Run,
    labels: &Args,
    from: *const E,
    c: c_int,
    count: usize,
    result: *mut E,
) {
    let seen = if result.is_null() { count } else { index(from, result) + 1 };
    // SAFETY: so many elements were searched.
    if labels.label(1) == 0 && !Elements::new(from, seen).is_symbolic() {
        return;
    }
    // Elements after the match need not exist.
    let mapped = mapped_within(from, seen, count);
    let searched = if mapped == count { count } else { seen };
    forward(run, labels, Elements::new(from, searched), c, mapped < count, result);
}

/// `rawmemchr`
pub(super) fn first_without_end<E: Element>(
    run: &Run,
    labels: &Args,
    from: *const E,
    c: c_int,
    result: *mut E,
) {
    // SAFETY: the library searched as far as it found the element.
    forward(run, labels, Elements::new(from, index(from, result) + 1), c, true, result)
}

fn index<E: Element>(from: *const E, result: *const E) -> usize {
    (result as usize).wrapping_sub(from as usize) / E::SIZE
}

/// A search in elements. If there may be more after them, the last is the one that was found.
fn forward<E: Element>(
    run: &Run,
    labels: &Args,
    searched: Elements<E>,
    c: c_int,
    more: bool,
    result: *mut E,
) {
    let c = wanted::<E>(run, c, labels.label(1));
    Text::of_memory(searched).answer(run, c.label != 0, result as u64, |text| {
        let hit = |i| equal::<E>(run, text.at(run, i), c);
        if more {
            branch_on(run, hit(searched.count.wrapping_sub(1)));
        }
        let one = text.place_of_one(run, c, 0, NOWHERE);
        one.unwrap_or_else(|| text.first(run, NOWHERE, hit))
    });
}

/// `memrchr`
pub(super) fn last_in_memory<E: Element>(
    run: &Run,
    labels: &Args,
    from: *const E,
    c: c_int,
    count: usize,
    result: *mut E,
) {
    let c = wanted::<E>(run, c, labels.label(1));
    // SAFETY: the call promises that so many elements are there.
    let text = Text::of_memory(Elements::new(from, count));
    text.answer(run, c.label != 0, result as u64, |text| {
        let one = text.place_of_one(run, c, text::LAST, NOWHERE);
        one.unwrap_or_else(|| text.last(run, NOWHERE, |i| equal::<E>(run, text.at(run, i), c)))
    });
}

/// `strchr`: the string's end is a match for 0.
pub(super) fn first<E: Element>(
    run: &Run,
    labels: &Args,
    start: *const E,
    c: c_int,
    result: *mut E,
) {
    let c = wanted::<E>(run, c, labels.label(1));
    Text::of_string(run, start).answer(run, c.label != 0, result as u64, |text| {
        let none = choose(run, 64, is_zero::<E>(run, c), text.place(run, text.count()), NOWHERE);
        let ends = if c.value == 0 { 0 } else { text::TERMINATED };
        let one = text.place_of_one(run, c, ends, none);
        one.unwrap_or_else(|| text.first(run, none, |i| equal::<E>(run, text.at(run, i), c)))
    });
}

/// `strchrnul`
pub(super) fn first_or_end<E: Element>(
    run: &Run,
    labels: &Args,
    start: *const E,
    c: c_int,
    result: *mut E,
) {
    let label = labels.label(1);
    let stops = [E::of_argument(c), E::ZERO];
    let (c, stops) = (wanted::<E>(run, c, label), Elements::new(stops.as_ptr(), 2));
    Text::of_string(run, start).answer(run, label != 0, result as u64, |text| {
        let none = text.place(run, text.count());
        let one = if label == 0 { text.place_of(run, stops, text::SET, none) } else { None };
        let stops = |i| {
            either(run, equal::<E>(run, text.at(run, i), c), is_zero::<E>(run, text.at(run, i)))
        };
        one.unwrap_or_else(|| text.first(run, none, stops))
    });
}

/// `strrchr`
pub(super) fn last<E: Element>(
    run: &Run,
    labels: &Args,
    start: *const E,
    c: c_int,
    result: *mut E,
) {
    let c = wanted::<E>(run, c, labels.label(1));
    Text::of_string(run, start).answer(run, c.label != 0, result as u64, |text| {
        if branch_on(run, is_zero::<E>(run, c)) {
            let end = text.place(run, text.count());
            let one = text.place_of_one(run, FALSE, 0, end);
            return one
                .unwrap_or_else(|| text.first(run, end, |i| is_zero::<E>(run, text.at(run, i))));
        }
        let one = text.place_of_one(run, c, text::TERMINATED | text::LAST, NOWHERE);
        one.unwrap_or_else(|| text.last(run, NOWHERE, |i| equal::<E>(run, text.at(run, i), c)))
    });
}

/// `strstr`
pub(super) fn string<E: Element>(
    run: &Run,
    _: &Args,
    start: *const E,
    pattern: *const E,
    result: *mut E,
) {
    let pattern = ends::elements(run, pattern);
    Text::of_string(run, start).find(run, pattern, false, result as u64);
}

/// `strcasestr`
pub(super) fn folded_string<E: Element>(
    run: &Run,
    _: &Args,
    start: *const E,
    pattern: *const E,
    result: *mut E,
) {
    let (text, pattern) = (Text::of_string(run, start), ends::elements(run, pattern));
    if (text.is_symbolic() || pattern.is_symbolic()) && !E::only_ascii_has_case() {
        return give_up(run);
    }
    text.find(run, pattern, true, result as u64);
}

/// `memmem`
pub(super) fn memory<E: Element>(
    run: &Run,
    _: &Args,
    start: *const E,
    count: usize,
    pattern: *const E,
    pattern_count: usize,
    result: *mut E,
) {
    // SAFETY: the call promises that so many elements are there.
    let text = Text::of_memory(Elements::new(start, count));
    text.find(run, Elements::new(pattern, pattern_count), false, result as u64);
}

impl<E: Element> Text<E> {
    /// Answers a search for a pattern; with `folded` the case of ASCII letters does not count.
    fn find(self, run: &Run, pattern: Elements<E>, folded: bool, result: u64) {
        let others = pattern.is_symbolic();
        let too_long = self.count().saturating_mul(pattern.count) > MAX_COMPARISONS;
        if too_long && others {
            return give_up(run);
        }
        self.answer(run, others, result, |text| {
            if let Some(one) = text.find_in_one(run, pattern, folded) {
                return one;
            }
            if too_long {
                give_up(run);
                return Value::concrete(result);
            }
            text.find_by_elements(run, pattern, folded)
        });
    }

    fn find_in_one(&self, run: &Run, pattern: Elements<E>, folded: bool) -> Option<Value> {
        if pattern.count == 0 || pattern.is_symbolic() {
            return None;
        }
        let ends = if self.terminated { text::TERMINATED } else { 0 };
        self.place_of(run, pattern, ends | if folded { text::FOLD } else { 0 }, NOWHERE)
    }

    fn find_by_elements(&self, run: &Run, pattern: Elements<E>, folded: bool) -> Value {
        let fold = |c: Value| if folded { lower::<E>(run, c) } else { c };
        let matches_at = |i: usize| {
            (0..pattern.count).fold(TRUE, |matches, j| {
                both(
                    run,
                    matches,
                    equal::<E>(run, fold(self.at(run, i + j)), fold(pattern.at(run, j))),
                )
            })
        };
        let places = (self.count() + 1).saturating_sub(pattern.count);
        let none = if pattern.count == 0 { self.place(run, 0) } else { NOWHERE };
        Text { elements: self.elements.first(places), ..*self }.first(run, none, matches_at)
    }
}
