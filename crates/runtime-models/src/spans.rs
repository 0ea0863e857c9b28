//! Searches for members of sets: how far a string goes, and where it stops.

use super::element::{Element, Elements, equal, is_zero};
use super::logic::*;
use super::search::{MAX_COMPARISONS, Text};
use super::{ends, give_up};
use runtime_core::build::Value;
use runtime_core::calls::Args;
use runtime_core::state::Run;
use trace::text;

/// The elements of a string as a set.
#[derive(Clone, Copy)]
pub(super) struct Members<E> {
    elements: Elements<E>,
    /// The members where they are bytes and no input changes them.
    bytes: Option<ByteSet>,
}

impl<E: Element> Members<E> {
    /// The library has just read the string, or is about to; the guard is held.
    pub(super) fn of_string(run: &Run, start: *const E) -> Members<E> {
        let elements = ends::elements(run, start);
        let bytes = (E::SIZE == 1 && !elements.is_symbolic()).then(|| {
            let mut set = ByteSet::EMPTY;
            (0..elements.count).for_each(|i| set.insert(elements.get(i).value() as u8));
            set
        });
        Members { elements, bytes }
    }

    /// Membership of `count` elements takes too many comparisons.
    fn is_large(&self, count: usize) -> bool {
        self.bytes.is_none() && self.elements.count.saturating_mul(count) > MAX_COMPARISONS
    }

    pub(super) fn is_symbolic(&self) -> bool {
        self.elements.is_symbolic()
    }

    /// `c in set`: for bytes, one comparison for each run of neighbours.
    pub(super) fn holds(&self, run: &Run, c: Value) -> Value {
        if let Some(bytes) = &self.bytes {
            return bytes.holds(run, c);
        }
        let members = (0..self.elements.count).map(|i| self.elements.at(run, i));
        members.fold(FALSE, |found, member| either(run, found, equal::<E>(run, c, member)))
    }

    /// `c in set or c == 0`
    pub(super) fn stops(&self, run: &Run, c: Value) -> Value {
        match self.bytes {
            Some(mut bytes) => {
                bytes.insert(0);
                bytes.holds(run, c)
            }
            None => either(run, is_zero::<E>(run, c), self.holds(run, c)),
        }
    }

    /// The members, and 0.
    fn with_end(&self) -> Elements<E> {
        // SAFETY: a string ends with 0.
        Elements::new(self.elements.address() as *const E, self.elements.count + 1)
    }
}

/// Answers a search of a string for members of a set.
fn answer<E: Element>(
    run: &Run,
    start: *const E,
    set: &Members<E>,
    result: u64,
    expression: impl FnOnce(Text<E>) -> Value,
) {
    Text::of_string(run, start).answer(run, set.is_symbolic(), result, |text| {
        if set.is_large(text.count()) {
            give_up(run);
            return Value::concrete(result);
        }
        expression(text)
    });
}

/// `strpbrk`
pub(super) fn first_member<E: Element>(
    run: &Run,
    _: &Args,
    start: *const E,
    set: *const E,
    result: *mut E,
) {
    let set = Members::of_string(run, set);
    answer(run, start, &set, result as u64, |text| {
        let none = Value::concrete(0);
        let one = text.place_of(run, set.elements, text::SET | text::TERMINATED, none);
        one.unwrap_or_else(|| text.first(run, none, |i| set.holds(run, text.at(run, i))))
    });
}

/// `strspn`
pub(super) fn span<E: Element>(run: &Run, _: &Args, start: *const E, set: *const E, result: usize) {
    let set = Members::of_string(run, set);
    answer(run, start, &set, result as u64, |text| {
        let one = text.index_of(run, set.elements, text::SET | text::NEGATED);
        one.unwrap_or_else(|| text.length_before(run, |c| negated(run, set.holds(run, c))))
    });
}

/// `strcspn`
pub(super) fn span_until<E: Element>(
    run: &Run,
    _: &Args,
    start: *const E,
    set: *const E,
    result: usize,
) {
    let set = Members::of_string(run, set);
    answer(run, start, &set, result as u64, |text| {
        let one = text.index_of(run, set.with_end(), text::SET);
        one.unwrap_or_else(|| text.length_before(run, |c| set.stops(run, c)))
    });
}
