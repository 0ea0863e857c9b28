//! Searches in strings and memory of wide characters: one expression for the place that was found.

use super::logic::*;
use super::{MAX_STRING, answer, answer_checked, element, extent, give_up};
use crate::build::Value;
use crate::calls::{self, Args};
use crate::{shadow, state};
use trace::{ConcretiseReason, Op};

unsafe extern "C" {
    fn wcslen(string: *const i32) -> usize;
    fn wcschr(string: *const i32, c: i32) -> *mut i32;
    fn wcsrchr(string: *const i32, c: i32) -> *mut i32;
    fn wmemchr(from: *const i32, c: i32, count: usize) -> *mut i32;
    fn wcsstr(text: *const i32, wanted: *const i32) -> *mut i32;
    fn wcspbrk(string: *const i32, set: *const i32) -> *mut i32;
    fn wcsspn(string: *const i32, set: *const i32) -> usize;
    fn wcscspn(string: *const i32, set: *const i32) -> usize;
}

/// More comparisons than this are not put into one expression.
const MAX_COMPARISONS: usize = 1 << 15;

/// A range of wide characters that is searched.
#[derive(Clone, Copy)]
struct Text {
    start: *const i32,
    count: usize,
    /// A 0 in the range ends it.
    terminated: bool,
    /// The range ends where the string does on this run, not on every input.
    open: bool,
}

impl Text {
    /// A string, its end included.
    unsafe fn string(start: *const i32) -> Text {
        let nothing = Text { start, count: 0, terminated: true, open: false };
        unsafe {
            if !state::active() {
                return nothing;
            }
            let extent = extent(start.cast(), 4, wcslen(start), usize::MAX);
            Text { count: extent.count + 1, open: !extent.closed, ..nothing }
        }
    }

    unsafe fn at(&self, i: usize) -> Value {
        unsafe { element(self.start.add(i).cast(), 4) }
    }

    fn place(&self, i: usize) -> Value {
        Value::concrete(self.start as u64 + 4 * i as u64)
    }

    unsafe fn ends(&self, c: Value) -> Value {
        unsafe { if self.terminated { equal(c, Value::concrete(0)) } else { FALSE } }
    }

    /// `r(i) = if hit(i) { place(i) } else if text ends at i { 0 } else { r(i + 1) }`
    unsafe fn first(&self, hit: impl Fn(usize) -> Value) -> Value {
        unsafe {
            let mut rest = FALSE;
            for i in (0..self.count).rev() {
                let end = self.ends(self.at(i));
                rest = choose(64, hit(i), self.place(i), choose(64, end, FALSE, rest));
            }
            rest
        }
    }

    /// `r(i) = if text ends at i { first(i) } else if r(i + 1) found { r(i + 1) } else { first(i) }` where
    /// `first(i) = if hit(i) { place(i) } else { 0 }`
    unsafe fn last(&self, hit: impl Fn(usize) -> Value) -> Value {
        unsafe {
            let (mut rest, mut found) = (FALSE, FALSE);
            for i in (0..self.count).rev() {
                let (here, end) = (hit(i), self.ends(self.at(i)));
                let first = choose(64, here, self.place(i), FALSE);
                rest = choose(64, end, first, choose(64, found, rest, first));
                found = either(here, both(negated(end), found));
            }
            rest
        }
    }

    /// Number of characters before the first that stops.
    unsafe fn length_before(&self, stops: impl Fn(Value) -> Value) -> Value {
        unsafe {
            let mut rest = Value::concrete(self.count as u64);
            for i in (0..self.count).rev() {
                rest = choose(64, stops(self.at(i)), Value::concrete(i as u64), rest);
            }
            rest
        }
    }

    /// Answers with `expression()` if the text is short and it or the other arguments, of `size` characters, are symbolic.
    unsafe fn found(&self, others: bool, size: usize, result: u64, expression: impl FnOnce() -> Value) {
        unsafe {
            answer(0);
            if !state::active() || !(others || shadow::any_label(self.start as usize, self.count * 4)) {
                return;
            }
            let Some(_entered) = state::enter() else { return };
            if self.count > MAX_STRING || self.count.saturating_mul(size) > MAX_COMPARISONS {
                return give_up();
            }
            if self.open {
                ask(self.ends(self.at(self.count - 1)));
            }
            answer_checked(expression(), result);
        }
    }
}

unsafe fn equal(a: Value, b: Value) -> Value {
    unsafe { apply(Op::Eq, 32, a, b) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcschr(start: *const i32, c: i32) -> *mut i32 {
    unsafe {
        let wanted = Value::new(Args::take().label(1), c as u32 as u64);
        let result = wcschr(start, c);
        let text = Text::string(start);
        text.found(wanted.label != 0, 1, result as u64, || text.first(|i| equal(text.at(i), wanted)));
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcsrchr(start: *const i32, c: i32) -> *mut i32 {
    unsafe {
        let wanted = Value::new(Args::take().label(1), c as u32 as u64);
        let result = wcsrchr(start, c);
        let text = Text::string(start);
        text.found(wanted.label != 0, 1, result as u64, || text.last(|i| equal(text.at(i), wanted)));
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wmemchr(start: *const i32, c: i32, count: usize) -> *mut i32 {
    unsafe {
        let args = Args::take();
        super::concretise(args.label(2), ConcretiseReason::CopyLength);
        let wanted = Value::new(args.label(1), c as u32 as u64);
        let result = wmemchr(start, c, count);
        // Characters behind the match need not exist.
        let seen = if result.is_null() { count } else { result.offset_from(start) as usize + 1 };
        let text = Text { start, count: seen, terminated: false, open: false };
        text.found(wanted.label != 0, 1, result as u64, || {
            if !result.is_null() {
                ask(equal(text.at(seen - 1), wanted));
            }
            text.first(|i| equal(text.at(i), wanted))
        });
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcsstr(start: *const i32, wanted: *const i32) -> *mut i32 {
    unsafe {
        calls::__tgi_args_taken();
        let result = wcsstr(start, wanted);
        let text = Text::string(start);
        let size = if state::active() { wcslen(wanted) } else { 0 };
        let others = shadow::any_label(wanted as usize, size * 4);
        text.found(others, size, result as u64, || {
            if size == 0 {
                return text.place(0);
            }
            // The last one is the end, which no match holds.
            let places = Text { count: text.count.saturating_sub(size), ..text };
            places.first(|i| {
                (0..size).fold(TRUE, |matches, j| {
                    both(matches, equal(text.at(i + j), element(wanted.add(j).cast(), 4)))
                })
            })
        });
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcswcs(start: *const i32, wanted: *const i32) -> *mut i32 {
    unsafe { __tarragon_model_wcsstr(start, wanted) }
}

/// The characters of a string as a set.
pub(super) struct WideSet {
    start: *const i32,
    pub size: usize,
    symbolic: bool,
}

impl WideSet {
    pub(super) unsafe fn of(start: *const i32) -> WideSet {
        unsafe {
            let size = if state::active() { wcslen(start) } else { 0 };
            WideSet { start, size, symbolic: shadow::any_label(start as usize, size * 4) }
        }
    }

    pub(super) unsafe fn holds(&self, c: Value) -> Value {
        unsafe {
            (0..self.size)
                .fold(FALSE, |found, i| either(found, equal(c, element(self.start.add(i).cast(), 4))))
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcspbrk(start: *const i32, set: *const i32) -> *mut i32 {
    unsafe {
        calls::__tgi_args_taken();
        let result = wcspbrk(start, set);
        let (text, set) = (Text::string(start), WideSet::of(set));
        text.found(set.symbolic, set.size, result as u64, || text.first(|i| set.holds(text.at(i))));
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcsspn(start: *const i32, set: *const i32) -> usize {
    unsafe {
        calls::__tgi_args_taken();
        let result = wcsspn(start, set);
        let (text, set) = (Text::string(start), WideSet::of(set));
        text.found(set.symbolic, set.size, result as u64, || text.length_before(|c| negated(set.holds(c))));
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_wcscspn(start: *const i32, set: *const i32) -> usize {
    unsafe {
        calls::__tgi_args_taken();
        let result = wcscspn(start, set);
        let (text, set) = (Text::string(start), WideSet::of(set));
        text.found(set.symbolic, set.size, result as u64, || {
            text.length_before(|c| either(set.holds(c), text.ends(c)))
        });
        result
    }
}
