//! Comparisons and lengths of strings and memory: one expression for the result, however long the
//! operands are.

use super::element::{Element, Elements, Extent, MAX_STRING, equal, is_zero, locale};
use super::logic::*;
use super::{answer_checked, give_up};
use crate::build::Value;
use crate::calls::Args;
use crate::texts::{self, Bytes};
use crate::{samples, stretches};
use core::ffi::c_int;
use trace::{Op, text};

/// How two sequences are compared, element by element.
#[derive(Clone, Copy)]
pub(super) struct Order {
    /// Elements that are both 0 end the comparison.
    terminated: bool,
    /// The case of ASCII letters does not count.
    folded: bool,
}

pub(super) const MEMORY: Order = Order { terminated: false, folded: false };
pub(super) const EXACT: Order = Order { terminated: true, folded: false };
pub(super) const FOLDED: Order = Order { terminated: true, folded: true };

impl Order {
    fn flags(self) -> u16 {
        (if self.terminated { text::TERMINATED } else { 0 }) | (if self.folded { text::FOLD } else { 0 })
    }

    unsafe fn fold<E: Element>(self, element: Value) -> Value {
        unsafe { if self.folded { lower::<E>(element) } else { element } }
    }
}

/// Two sequences of the same length, and what the library said of them.
struct Compared<E> {
    order: Order,
    a: Elements<E>,
    b: Elements<E>,
    result: c_int,
}

impl<E: Element> Compared<E> {
    /// What the expression says for "less" and "greater": `result` where its sign fits, so that the
    /// expression has the value which the library returned; the standard fixes the sign only.
    fn signs(&self) -> (Value, Value) {
        let less = if self.result < 0 { self.result } else { -1 };
        let greater = if self.result > 0 { self.result } else { 1 };
        (Value::concrete(less as u32 as u64), Value::concrete(greater as u64))
    }

    /// `sign(a - b)` as an expression.
    ///
    /// ```text
    /// r(i) = if a[i] == b[i] { r(i + 1) } else if a[i] < b[i] { less } else { greater }
    /// ```
    unsafe fn difference(&self) -> Value {
        unsafe {
            if let Some(one) = self.difference_in_one() {
                return one;
            }
            let (less, greater) = self.signs();
            let mut rest = FALSE;
            for i in (0..self.a.count).rev() {
                let (x, y) = self.pair(i);
                if self.order.terminated && x.label != 0 && y.label != 0 {
                    rest = choose(32, is_zero::<E>(x), FALSE, rest);
                }
                let unequal = choose(32, apply(E::LESS, E::BITS, x, y), less, greater);
                rest = choose(32, equal::<E>(x, y), rest, unequal);
            }
            rest
        }
    }

    unsafe fn pair(&self, i: usize) -> (Value, Value) {
        unsafe { (self.order.fold::<E>(self.a.at(i)), self.order.fold::<E>(self.b.at(i))) }
    }

    /// The sign in one node over the symbolic side, and whether that is the first.
    unsafe fn sign_in_one(&self) -> Option<(Value, bool)> {
        unsafe {
            let is_first = self.a.is_symbolic();
            let (of, pattern) = if is_first { (self.a, self.b) } else { (self.b, self.a) };
            let sign = texts::compare(of.bytes()?, pattern.bytes()?, self.order.flags())?;
            Some((sign, is_first))
        }
    }

    unsafe fn difference_in_one(&self) -> Option<Value> {
        unsafe {
            let (sign, is_first) = self.sign_in_one()?;
            let (less, greater) = self.signs();
            let (yes, no) = if is_first { (less, greater) } else { (greater, less) };
            let unequal = choose(32, apply_to(Op::Slt, 32, sign, 0), yes, no);
            Some(choose(32, apply_to(Op::Eq, 32, sign, 0), FALSE, unequal))
        }
    }

    unsafe fn is_equal(&self) -> Value {
        unsafe {
            if let Some((sign, _)) = self.sign_in_one() {
                return apply_to(Op::Eq, 32, sign, 0);
            }
            let mut all = TRUE;
            for i in 0..self.a.count {
                let (x, y) = self.pair(i);
                let same = equal::<E>(x, y);
                if same.label == 0 && same.value == 0 {
                    return same;
                }
                all = both(all, same);
            }
            all
        }
    }

    /// 0 if they are equal, and what the library said of unequal ones otherwise.
    unsafe fn inequality(&self) -> Value {
        unsafe {
            let other = if self.result == 0 { 1 } else { self.result };
            choose(32, self.is_equal(), FALSE, Value::concrete(other as u32 as u64))
        }
    }

    unsafe fn answer(&self, value: unsafe fn(&Self) -> Value) {
        unsafe {
            if !self.a.is_symbolic() && !self.b.is_symbolic() {
                return;
            }
            if self.a.count > MAX_STRING {
                return give_up();
            }
            answer_checked(value(self), self.result as u32 as u64);
        }
    }
}

/// `memcmp`
pub(super) unsafe fn memory<E: Element>(_: &Args, a: *const E, b: *const E, count: usize, result: c_int) {
    // SAFETY: the library compared so many elements.
    let [a, b] = [a, b].map(|start| unsafe { Elements::new(start, count) });
    unsafe { Compared { order: MEMORY, a, b, result }.answer(Compared::difference) };
}

/// `bcmp`: only 0 is told from other results.
pub(super) unsafe fn equality<E: Element>(_: &Args, a: *const E, b: *const E, count: usize, result: c_int) {
    // SAFETY: the library compared so many elements.
    let [a, b] = [a, b].map(|start| unsafe { Elements::new(start, count) });
    unsafe { Compared { order: MEMORY, a, b, result }.answer(Compared::inequality) };
}

/// `strcmp`
pub(super) unsafe fn strings<E: Element>(
    order: Order,
    labels: &Args,
    a: *const E,
    b: *const E,
    result: c_int,
) {
    unsafe {
        strings_within(order, labels, a, b, usize::MAX, result);
        if E::SIZE == 1 {
            note_lengths(a, b);
        }
    }
}

/// `strcoll`: an order of elements in plain locales only.
pub(super) unsafe fn collated<E: Element>(labels: &Args, a: *const E, b: *const E, result: c_int) {
    unsafe {
        if locale::is_plain(locale::ORDER) {
            strings(EXACT, labels, a, b, result);
        } else {
            give_up_on([a, b]);
        }
    }
}

/// `strncmp`
pub(super) unsafe fn strings_within<E: Element>(
    order: Order,
    _: &Args,
    a: *const E,
    b: *const E,
    limit: usize,
    result: c_int,
) {
    unsafe {
        let extents = [a, b].map(|text| Extent::of(text, E::length_within(text, limit), limit));
        let shorter = extents[0].elements.count.min(extents[1].elements.count);
        let count = shorter.saturating_add(1).min(limit);
        // SAFETY: up to the end of the shorter one, which the library read or a 0 stands at.
        let [a, b] = [a, b].map(|start| Elements::new(start, count));
        if order.folded && (a.is_symbolic() || b.is_symbolic()) && !E::only_ascii_has_case() {
            return give_up();
        }
        Compared { order, a, b, result }.answer(Compared::difference);
    }
}

/// What the library did with these strings is not described.
unsafe fn give_up_on<E: Element>(strings: [*const E; 2]) {
    unsafe {
        // SAFETY: the library read the strings.
        let is_symbolic = |text: &*const E| Elements::new(*text, E::length(*text)).is_symbolic();
        if strings.iter().any(is_symbolic) {
            give_up();
        }
    }
}

/// Strings of different length are words that an input could have in each other's place.
unsafe fn note_lengths<E: Element>(a: *const E, b: *const E) {
    unsafe {
        // SAFETY: the library read both strings.
        let [a, b] = [a, b].map(|text| Elements::new(text, E::length(text)));
        if a.count != b.count
            && let (Some(a), Some(b)) = (a.bytes(), b.bytes())
        {
            samples::differ(a, b);
        }
    }
}

/// `strlen`
pub(super) unsafe fn length<E: Element>(labels: &Args, text: *const E, result: usize) {
    unsafe { length_within(labels, text, usize::MAX, result) }
}

/// `strnlen`
pub(super) unsafe fn length_within<E: Element>(_: &Args, text: *const E, limit: usize, result: usize) {
    unsafe {
        // SAFETY: the library found that many, and the end if they are fewer than the limit.
        let seen = Elements::new(text, result.saturating_add(1).min(limit));
        if !seen.is_symbolic() {
            return;
        }
        if result > MAX_STRING {
            return give_up();
        }
        let whole = Extent::of(text, result, limit);
        if let Some(end) = whole.open_end() {
            branch_on(is_zero::<E>(end));
        }
        if is_cut(seen.first(result), limit) {
            return (0..result).for_each(|i| {
                branch_on(is_zero::<E>(seen.at(i)));
            });
        }
        answer_checked(measure(whole.elements), result as u64);
    }
}

/// The number of elements before the first 0, or all if there is none.
pub(super) unsafe fn measure<E: Element>(text: Elements<E>) -> Value {
    unsafe {
        let (count, passed) = (text.count, text.passed());
        let is_end = |i: usize| is_zero::<E>(text.at(i));
        if passed.any() {
            return passed.place((0..count).find(|i| branch_on(is_end(*i))).unwrap_or(count));
        }
        if (0..count).all(|i| is_end(i).label == 0) {
            return Value::concrete(count as u64);
        }
        let zero = [0u8];
        let zero = Bytes { start: zero.as_ptr(), size: 1 };
        if let Some(one) = text.bytes().and_then(|bytes| texts::find(bytes, zero, 0)) {
            return one;
        }
        let mut rest = Value::concrete(count as u64);
        for i in (0..count).rev() {
            rest = choose(64, is_end(i), Value::concrete(i as u64), rest);
        }
        rest
    }
}

/// Of a string at most `limit` elements count, and on this run these: with a stretch in it, whether
/// it is longer is a branch.
pub(super) unsafe fn is_cut<E: Element>(text: Elements<E>, limit: usize) -> bool {
    unsafe {
        if !stretches::any() || limit == usize::MAX {
            return false;
        }
        let Some(bytes) = text.bytes() else { return false };
        let reach = stretches::reach(bytes.start, bytes.size);
        branch_on(apply(Op::Ule, 64, Value::concrete(limit as u64), reach))
    }
}
