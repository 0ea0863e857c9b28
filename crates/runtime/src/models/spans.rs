//! Searches for members of sets: how far a string goes, and where it stops.

use super::element::{Element, Elements, equal, is_zero};
use super::give_up;
use super::logic::*;
use super::search::{MAX_COMPARISONS, Text};
use crate::build::Value;
use crate::calls::Args;
use trace::text;

/// The elements of a string as a set.
#[derive(Clone, Copy)]
pub(super) struct Members<E> {
    elements: Elements<E>,
    /// The members where they are bytes and no input changes them.
    bytes: Option<ByteSet>,
}

impl<E: Element> Members<E> {
    /// # Safety
    /// The library has just read the string, or is about to.
    pub(super) unsafe fn of_string(start: *const E) -> Members<E> {
        // SAFETY: the caller promises it.
        let elements = unsafe { Elements::new(start, E::length(start)) };
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
    pub(super) unsafe fn holds(&self, c: Value) -> Value {
        unsafe {
            if let Some(bytes) = &self.bytes {
                return bytes.holds(c);
            }
            let members = (0..self.elements.count).map(|i| self.elements.at(i));
            members.fold(FALSE, |found, member| either(found, equal::<E>(c, member)))
        }
    }

    /// `c in set or c == 0`
    pub(super) unsafe fn stops(&self, c: Value) -> Value {
        unsafe {
            match self.bytes {
                Some(mut bytes) => {
                    bytes.insert(0);
                    bytes.holds(c)
                }
                None => either(is_zero::<E>(c), self.holds(c)),
            }
        }
    }

    /// The members, and 0.
    fn with_end(&self) -> Elements<E> {
        // SAFETY: a string ends with 0.
        unsafe { Elements::new(self.elements.address() as *const E, self.elements.count + 1) }
    }
}

/// Answers a search of a string for members of a set.
unsafe fn answer<E: Element>(
    start: *const E,
    set: &Members<E>,
    result: u64,
    expression: impl FnOnce(Text<E>) -> Value,
) {
    unsafe {
        Text::of_string(start).answer(set.is_symbolic(), result, |text| {
            if set.is_large(text.count()) {
                give_up();
                return Value::concrete(result);
            }
            expression(text)
        });
    }
}

/// `strpbrk`
pub(super) unsafe fn first_member<E: Element>(_: &Args, start: *const E, set: *const E, result: *mut E) {
    unsafe {
        let set = Members::of_string(set);
        answer(start, &set, result as u64, |text| {
            let none = Value::concrete(0);
            let one = text.place_of(set.elements, text::SET | text::TERMINATED, none);
            one.unwrap_or_else(|| text.first(none, |i| set.holds(text.at(i))))
        });
    }
}

/// `strspn`
pub(super) unsafe fn span<E: Element>(_: &Args, start: *const E, set: *const E, result: usize) {
    unsafe {
        let set = Members::of_string(set);
        answer(start, &set, result as u64, |text| {
            let one = text.index_of(set.elements, text::SET | text::NEGATED);
            one.unwrap_or_else(|| text.length_before(|c| negated(set.holds(c))))
        });
    }
}

/// `strcspn`
pub(super) unsafe fn span_until<E: Element>(_: &Args, start: *const E, set: *const E, result: usize) {
    unsafe {
        let set = Members::of_string(set);
        answer(start, &set, result as u64, |text| {
            let one = text.index_of(set.with_end(), text::SET);
            one.unwrap_or_else(|| text.length_before(|c| set.stops(c)))
        });
    }
}
