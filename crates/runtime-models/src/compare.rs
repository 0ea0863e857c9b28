//! Comparisons and lengths of strings and memory: one expression for the result, however long the
//! operands are.

use super::element::{Element, Elements, Extent, MAX_STRING, equal, is_zero, locale};
use super::logic::*;
use super::{answer_checked, ends, give_up};
use core::ffi::c_int;
use runtime_core::build::Value;
use runtime_core::calls::Args;
use runtime_core::state::Run;
use runtime_core::texts::{self, Bytes};
use runtime_core::{hashes, repetitions};
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
        (if self.terminated { text::TERMINATED } else { 0 })
            | (if self.folded { text::FOLD } else { 0 })
    }

    fn fold<E: Element>(self, run: &Run, element: Value) -> Value {
        if self.folded { lower::<E>(run, element) } else { element }
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
    fn difference(&self, run: &Run) -> Value {
        if let Some(one) = self.difference_in_one(run) {
            return one;
        }
        let (less, greater) = self.signs();
        let mut rest = FALSE;
        for i in (0..self.a.count).rev() {
            let (x, y) = self.pair(run, i);
            if self.order.terminated && x.label != 0 && y.label != 0 {
                rest = choose(run, 32, is_zero::<E>(run, x), FALSE, rest);
            }
            let unequal = choose(run, 32, apply(run, E::LESS, E::BITS, x, y), less, greater);
            rest = choose(run, 32, equal::<E>(run, x, y), rest, unequal);
        }
        rest
    }

    fn pair(&self, run: &Run, i: usize) -> (Value, Value) {
        (self.order.fold::<E>(run, self.a.at(run, i)), self.order.fold::<E>(run, self.b.at(run, i)))
    }

    /// The sign in one node over the symbolic side, and whether that is the first.
    fn sign_in_one(&self, run: &Run) -> Option<(Value, bool)> {
        let is_first = self.a.is_symbolic();
        let (of, pattern) = if is_first { (self.a, self.b) } else { (self.b, self.a) };
        let sign = texts::compare(run, of.bytes()?, pattern.bytes()?, self.order.flags())?;
        Some((sign, is_first))
    }

    fn difference_in_one(&self, run: &Run) -> Option<Value> {
        let (sign, is_first) = self.sign_in_one(run)?;
        let (less, greater) = self.signs();
        let (yes, no) = if is_first { (less, greater) } else { (greater, less) };
        let unequal = choose(run, 32, apply_to(run, Op::Slt, 32, sign, 0), yes, no);
        Some(choose(run, 32, apply_to(run, Op::Eq, 32, sign, 0), FALSE, unequal))
    }

    fn is_equal(&self, run: &Run) -> Value {
        if let Some((sign, _)) = self.sign_in_one(run) {
            return apply_to(run, Op::Eq, 32, sign, 0);
        }
        let mut all = TRUE;
        for i in 0..self.a.count {
            let (x, y) = self.pair(run, i);
            let same = equal::<E>(run, x, y);
            if same.label == 0 && same.value == 0 {
                return same;
            }
            all = both(run, all, same);
        }
        all
    }

    /// 0 if they are equal, and what the library said of unequal ones otherwise.
    fn inequality(&self, run: &Run) -> Value {
        let other = if self.result == 0 { 1 } else { self.result };
        choose(run, 32, self.is_equal(run), FALSE, Value::concrete(other as u32 as u64))
    }

    fn answer(&self, run: &Run, value: fn(&Self, &Run) -> Value) {
        if !self.a.is_symbolic() && !self.b.is_symbolic() {
            return;
        }
        if self.a.count > MAX_STRING {
            return give_up(run);
        }
        answer_checked(run, value(self, run), self.result as u32 as u64);
    }
}

/// `memcmp`
pub(super) fn memory<E: Element>(
    run: &Run,
    _: &Args,
    a: *const E,
    b: *const E,
    count: usize,
    result: c_int,
) {
    let [a, b] = [a, b].map(|start| Elements::new(start, count));
    Compared { order: MEMORY, a, b, result }.answer(run, Compared::difference);
}

/// `bcmp`: only 0 is told from other results.
pub(super) fn equality<E: Element>(
    run: &Run,
    _: &Args,
    a: *const E,
    b: *const E,
    count: usize,
    result: c_int,
) {
    let [a, b] = [a, b].map(|start| Elements::new(start, count));
    Compared { order: MEMORY, a, b, result }.answer(run, Compared::inequality);
}

/// `strcmp`
pub(super) fn strings<E: Element>(
    run: &Run,
    order: Order,
    labels: &Args,
    a: *const E,
    b: *const E,
    result: c_int,
) {
    strings_within(run, order, labels, a, b, usize::MAX, result);
    if E::SIZE == 1 {
        note_lengths(run, a, b);
    }
}

/// `strcoll`: an order of elements in plain locales only.
pub(super) fn collated<E: Element>(
    run: &Run,
    labels: &Args,
    a: *const E,
    b: *const E,
    result: c_int,
) {
    if locale::is_plain(locale::ORDER) {
        strings(run, EXACT, labels, a, b, result);
    } else {
        give_up_on(run, [a, b]);
    }
}

/// `strncmp`
pub(super) fn strings_within<E: Element>(
    run: &Run,
    order: Order,
    _: &Args,
    a: *const E,
    b: *const E,
    limit: usize,
    result: c_int,
) {
    let extents = [a, b].map(|text| Extent::of(text, E::length_within(text, limit), limit));
    let shorter = extents[0].elements.count.min(extents[1].elements.count);
    let count = shorter.saturating_add(1).min(limit);
    // SAFETY: up to the end of the shorter one, which the library read or a 0 stands at.
    let [a, b] = [a, b].map(|start| Elements::new(start, count));
    if order.folded && (a.is_symbolic() || b.is_symbolic()) && !E::only_ascii_has_case() {
        return give_up(run);
    }
    Compared { order, a, b, result }.answer(run, Compared::difference);
}

/// What the library did with these strings is not described.
fn give_up_on<E: Element>(run: &Run, strings: [*const E; 2]) {
    let is_symbolic = |text: &*const E| ends::is_symbolic(*text);
    if strings.iter().any(is_symbolic) {
        give_up(run);
    }
}

/// Strings of different length are words that an input could have in each other's place.
fn note_lengths<E: Element>(run: &Run, a: *const E, b: *const E) {
    // SAFETY: the library read both strings.
    let [a, b] = [a, b].map(|text| Elements::new(text, E::length(text)));
    if a.count != b.count
        && let (Some(a), Some(b)) = (a.bytes(), b.bytes())
    {
        hashes::differ(run, a, b);
    }
}

/// `strlen`
pub(super) fn length<E: Element>(run: &Run, labels: &Args, text: *const E, result: usize) {
    length_within(run, labels, text, usize::MAX, result)
}

/// `strnlen`
pub(super) fn length_within<E: Element>(
    run: &Run,
    _: &Args,
    text: *const E,
    limit: usize,
    result: usize,
) {
    // SAFETY: the library found that many, and the end if they are fewer than the limit.
    let seen = Elements::new(text, result.saturating_add(1).min(limit));
    if !seen.is_symbolic() {
        return;
    }
    if result > MAX_STRING {
        return give_up(run);
    }
    let whole = Extent::of(text, result, limit);
    if let Some(end) = whole.open_end(run) {
        branch_on(run, is_zero::<E>(run, end));
    }
    if is_cut(run, seen.first(result), limit) {
        return (0..result).for_each(|i| {
            branch_on(run, is_zero::<E>(run, seen.at(run, i)));
        });
    }
    answer_checked(run, measure(run, whole.elements), result as u64);
}

/// The number of elements before the first 0, or all if there is none.
pub(super) fn measure<E: Element>(run: &Run, text: Elements<E>) -> Value {
    let is_end = |i: usize| is_zero::<E>(run, text.at(run, i));
    let is_certain = |end: Value| end.label == 0 && end.value == 1;
    // An element that the path fixes to 0 has a label in memory, and ends the string all the same.
    let text = text.first((0..text.count).find(|i| is_certain(is_end(*i))).unwrap_or(text.count));
    let (count, passed) = (text.count, text.passed(run));
    if passed.any() {
        return passed.place(run, (0..count).find(|i| branch_on(run, is_end(*i))).unwrap_or(count));
    }
    if (0..count).all(|i| is_end(i).label == 0) {
        return Value::concrete(count as u64);
    }
    let zero = [0u8];
    let zero = Bytes { start: zero.as_ptr() as usize, size: 1 };
    if let Some(one) = text.bytes().and_then(|bytes| texts::find(run, bytes, zero, 0)) {
        return one;
    }
    let mut rest = Value::concrete(count as u64);
    for i in (0..count).rev() {
        rest = choose(run, 64, is_end(i), Value::concrete(i as u64), rest);
    }
    rest
}

/// Of a string at most `limit` elements count, and on this run these: with a repetition in it,
/// whether it is longer is a branch.
pub(super) fn is_cut<E: Element>(run: &Run, text: Elements<E>, limit: usize) -> bool {
    if !repetitions::any(run) || limit == usize::MAX {
        return false;
    }
    let Some(bytes) = text.bytes() else { return false };
    let reach = repetitions::reach(run, bytes.start, bytes.size);
    branch_on(run, apply(run, Op::Ule, 64, Value::concrete(limit as u64), reach))
}
