//! Searches in strings and memory: one expression for the place that was found.

use super::logic::*;
use super::{
    MAX_STRING, answer, answer_checked, byte, concretise, extent, give_up, give_up_outside, mapped_until,
};
use crate::build::Value;
use crate::calls::{self, Args};
use crate::stretches::Passed;
use crate::texts::{self, Bytes};
use crate::{shadow, state, stretches};
use core::ffi::{c_char, c_int, c_void};
use trace::{ConcretiseReason, Op, text};

unsafe extern "C" {
    fn strlen(string: *const c_char) -> usize;
    fn strchr(string: *const c_char, c: c_int) -> *mut c_char;
    fn strchrnul(string: *const c_char, c: c_int) -> *mut c_char;
    fn strrchr(string: *const c_char, c: c_int) -> *mut c_char;
    fn memchr(from: *const c_void, c: c_int, size: usize) -> *mut c_void;
    fn memrchr(from: *const c_void, c: c_int, size: usize) -> *mut c_void;
    fn rawmemchr(from: *const c_void, c: c_int) -> *mut c_void;
    fn strstr(text: *const c_char, wanted: *const c_char) -> *mut c_char;
    fn strcasestr(text: *const c_char, wanted: *const c_char) -> *mut c_char;
    fn memmem(text: *const c_void, size: usize, wanted: *const c_void, wanted_size: usize) -> *mut c_void;
}

/// More comparisons than this are not put into one expression.
const MAX_COMPARISONS: usize = 1 << 15;

pub(super) unsafe fn wanted_byte(c: c_int, label: u32) -> Value {
    unsafe { truncated(8, Value::new(label, c as u32 as u64)) }
}

/// A range of bytes that is searched.
#[derive(Clone, Copy)]
pub(super) struct Text {
    pub start: *const u8,
    pub size: usize,
    /// A 0 in the range ends it, and so does its end.
    terminated: bool,
    /// The range ends where the string does on this run, not on every input.
    open: bool,
    pub passed: Passed,
}

impl Text {
    fn new(start: *const u8, size: usize) -> Text {
        Text { start, size, terminated: false, open: false, passed: Passed::NONE }
    }

    unsafe fn place(&self, i: usize) -> Value {
        unsafe { self.address(self.passed.place(i)) }
    }

    unsafe fn address(&self, index: Value) -> Value {
        unsafe { apply_to(Op::Add, 64, index, self.start as u64) }
    }

    unsafe fn ends(&self, c: Value) -> Value {
        unsafe { if self.terminated { is(c, 0) } else { FALSE } }
    }

    /// The string ends where it ends on this run, or before.
    unsafe fn fix_end(&self) {
        unsafe {
            if self.open {
                ask(is(byte(self.start.add(self.size)), 0));
            }
        }
    }

    /// `r(i) = if hit(i) { place(i) } else if text ends at i { none } else { r(i + 1) }`
    pub(super) unsafe fn first(&self, none: Value, hit: impl Fn(usize) -> Value) -> Value {
        unsafe {
            if self.passed.any() {
                let stop = (0..self.size).find(|i| ask(hit(*i)) || ask(self.ends(byte(self.start.add(*i)))));
                return stop.filter(|i| ask(hit(*i))).map_or(none, |i| self.place(i));
            }
            let mut rest = none;
            for i in (0..self.size).rev() {
                let end = self.ends(byte(self.start.add(i)));
                rest = choose(64, hit(i), self.place(i), choose(64, end, none, rest));
            }
            rest
        }
    }

    /// `r(i) = if text ends at i { none } else if r(i + 1) found { r(i + 1) } else if hit(i) { place(i) } else { none }`
    unsafe fn last(&self, none: Value, hit: impl Fn(usize) -> Value) -> Value {
        unsafe {
            if self.passed.any() {
                let end = (0..self.size).find(|i| ask(self.ends(byte(self.start.add(*i)))));
                let found = (0..end.unwrap_or(self.size)).rev().find(|i| ask(hit(*i)));
                return found.map_or(none, |i| self.address(self.passed.last_place(i)));
            }
            let (mut rest, mut found) = (none, FALSE);
            for i in (0..self.size).rev() {
                let end = self.ends(byte(self.start.add(i)));
                let here = hit(i);
                let later = choose(64, found, rest, choose(64, here, self.place(i), none));
                rest = choose(64, end, none, later);
                found = both(negated(end), either(found, here));
            }
            rest
        }
    }

    /// Where the pattern is, or `none`, in one node. `None` if formulas over the bytes will do.
    pub(super) unsafe fn place_of(&self, pattern: Bytes, flags: u16, none: Value) -> Option<Value> {
        unsafe {
            if self.passed.any() {
                return None;
            }
            let index = texts::find(self.bytes(), pattern, flags)?;
            let nowhere = apply_to(Op::Eq, 64, index, self.size as u64);
            Some(choose(64, nowhere, none, self.address(index)))
        }
    }

    /// As [`Text::place_of`] for one byte, unless it is symbolic.
    unsafe fn place_of_byte(&self, wanted: Value, flags: u16, none: Value) -> Option<Value> {
        if wanted.label != 0 {
            return None;
        }
        let wanted = [wanted.value as u8];
        unsafe { self.place_of(Bytes { start: wanted.as_ptr(), size: 1 }, flags, none) }
    }

    pub(super) fn bytes(&self) -> Bytes {
        Bytes { start: self.start, size: self.size }
    }

    unsafe fn symbolic(&self) -> bool {
        unsafe { state::active() && shadow::any_label(self.start as usize, self.size + self.open as usize) }
    }
}

/// Answers with `expression(text)` if the text is short and it or the other arguments are symbolic.
pub(super) unsafe fn found(text: Text, others: bool, result: u64, expression: impl FnOnce(Text) -> Value) {
    unsafe {
        answer(0);
        if !others && !text.symbolic() {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        if text.size > MAX_STRING {
            return give_up();
        }
        text.fix_end();
        let text = Text { passed: stretches::passed(text.start, text.size), ..text };
        answer_checked(expression(text), result);
    }
}

pub(super) unsafe fn string(start: *const c_char) -> Text {
    let whole = Text { terminated: true, ..Text::new(start.cast(), 0) };
    unsafe {
        if !state::active() {
            return whole;
        }
        let extent = extent(start.cast(), 1, strlen(start), usize::MAX);
        Text { size: extent.count, open: !extent.closed, ..whole }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_memchr(from: *const c_void, c: c_int, size: usize) -> *mut c_void {
    unsafe {
        let args = Args::take();
        let result = memchr(from, c, size);
        concretise(args.label(2), ConcretiseReason::CopyLength);
        let scanned = if result.is_null() { size } else { result as usize - from as usize + 1 };
        let symbolic = args.any() || (state::active() && shadow::any_label(from as usize, scanned));
        if !symbolic {
            answer(0);
            return result;
        }
        // Bytes behind the match need not exist.
        let mapped = mapped_until(from.cast(), scanned, size);
        forward(from, c, if mapped == size { size } else { scanned }, mapped < size, &args, result);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_rawmemchr(from: *const c_void, c: c_int) -> *mut c_void {
    unsafe {
        let args = Args::take();
        let result = rawmemchr(from, c);
        forward(from, c, result as usize - from as usize + 1, true, &args, result);
        result
    }
}

/// A search in `scanned` bytes. If there may be more behind, the last of them is the one that was found.
unsafe fn forward(
    from: *const c_void,
    c: c_int,
    scanned: usize,
    more: bool,
    args: &Args,
    result: *const c_void,
) {
    unsafe {
        let text = Text::new(from.cast(), scanned);
        found(text, args.label(1) != 0, result as u64, |text| {
            let wanted = wanted_byte(c, args.label(1));
            let hit = |i| apply(Op::Eq, 8, byte(text.start.add(i)), wanted);
            if more {
                ask(hit(scanned - 1));
            }
            let one = text.place_of_byte(wanted, 0, Value::concrete(0));
            one.unwrap_or_else(|| text.first(Value::concrete(0), hit))
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_memrchr(from: *const c_void, c: c_int, size: usize) -> *mut c_void {
    unsafe {
        let args = Args::take();
        let result = memrchr(from, c, size);
        concretise(args.label(2), ConcretiseReason::CopyLength);
        let text = Text::new(from.cast(), size);
        found(text, args.label(1) != 0, result as u64, |text| {
            let wanted = wanted_byte(c, args.label(1));
            let one = text.place_of_byte(wanted, text::LAST, Value::concrete(0));
            one.unwrap_or_else(|| {
                text.last(Value::concrete(0), |i| apply(Op::Eq, 8, byte(text.start.add(i)), wanted))
            })
        });
        result
    }
}

/// What a search for `wanted` in a string gives at the string's end: the end itself is a match for 0.
unsafe fn at_end(text: Text, wanted: Value) -> Value {
    unsafe { choose(64, is(wanted, 0), text.place(text.size), Value::concrete(0)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strchr(start: *const c_char, c: c_int) -> *mut c_char {
    unsafe {
        let args = Args::take();
        let result = strchr(start, c);
        let text = string(start);
        found(text, args.label(1) != 0, result as u64, |text| {
            let wanted = wanted_byte(c, args.label(1));
            let none = at_end(text, wanted);
            let ends = if wanted.value == 0 { 0 } else { text::TERMINATED };
            let one = text.place_of_byte(wanted, ends, none);
            one.unwrap_or_else(|| text.first(none, |i| apply(Op::Eq, 8, byte(text.start.add(i)), wanted)))
        });
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_index(start: *const c_char, c: c_int) -> *mut c_char {
    unsafe { __tarragon_model_strchr(start, c) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strchrnul(start: *const c_char, c: c_int) -> *mut c_char {
    unsafe {
        let args = Args::take();
        let result = strchrnul(start, c);
        let text = string(start);
        found(text, args.label(1) != 0, result as u64, |text| {
            let wanted = wanted_byte(c, args.label(1));
            let (none, stops) = (text.place(text.size), [wanted.value as u8, 0]);
            let stops = Bytes { start: stops.as_ptr(), size: 2 };
            let one = if wanted.label == 0 { text.place_of(stops, text::SET, none) } else { None };
            one.unwrap_or_else(|| {
                text.first(none, |i| {
                    let here = byte(text.start.add(i));
                    either(apply(Op::Eq, 8, here, wanted), is(here, 0))
                })
            })
        });
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strrchr(start: *const c_char, c: c_int) -> *mut c_char {
    unsafe {
        let args = Args::take();
        let result = strrchr(start, c);
        let text = string(start);
        found(text, args.label(1) != 0, result as u64, |text| {
            let wanted = wanted_byte(c, args.label(1));
            if ask(is(wanted, 0)) {
                let (end, zero) = (text.place(text.size), Value::concrete(0));
                let one = text.place_of_byte(zero, 0, end);
                return one.unwrap_or_else(|| text.first(end, |i| is(byte(text.start.add(i)), 0)));
            }
            let one = text.place_of_byte(wanted, text::TERMINATED | text::LAST, Value::concrete(0));
            one.unwrap_or_else(|| {
                text.last(Value::concrete(0), |i| apply(Op::Eq, 8, byte(text.start.add(i)), wanted))
            })
        });
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_rindex(start: *const c_char, c: c_int) -> *mut c_char {
    unsafe { __tarragon_model_strrchr(start, c) }
}

/// A search for the string of `wanted_size` bytes at `wanted`; `fold` maps bytes that count as equal to one, as `flags` say.
unsafe fn find_string(
    text: Text,
    wanted: *const u8,
    wanted_size: usize,
    result: u64,
    (flags, fold): (u16, unsafe fn(Value) -> Value),
) {
    unsafe {
        let others = state::active() && shadow::any_label(wanted as usize, wanted_size);
        let too_long = text.size.saturating_mul(wanted_size) > MAX_COMPARISONS;
        if too_long && others {
            answer(0);
            give_up_outside();
            return;
        }
        found(text, others, result, |text| {
            let wanted_bytes = Bytes { start: wanted, size: wanted_size };
            let one = if others || wanted_size == 0 {
                None
            } else {
                text.place_of(wanted_bytes, flags, Value::concrete(0))
            };
            if let Some(one) = one {
                return one;
            }
            if too_long {
                give_up();
                return Value::concrete(result);
            }
            let positions = (text.size + 1).saturating_sub(wanted_size);
            let last = Text { size: positions.min(text.size), ..text };
            last.first(Value::concrete(if wanted_size == 0 { text.start as u64 } else { 0 }), |i| {
                let mut matches = TRUE;
                for j in 0..wanted_size {
                    let (x, y) = (byte(text.start.add(i + j)), byte(wanted.add(j)));
                    matches = both(matches, apply(Op::Eq, 8, fold(x), fold(y)));
                }
                matches
            })
        });
    }
}

const EXACT_STRING: (u16, unsafe fn(Value) -> Value) = (text::TERMINATED, unchanged);

unsafe fn unchanged(c: Value) -> Value {
    c
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strstr(text: *const c_char, wanted: *const c_char) -> *mut c_char {
    unsafe {
        calls::__tgi_args_taken();
        let result = strstr(text, wanted);
        find_string(string(text), wanted.cast(), strlen(wanted), result as u64, EXACT_STRING);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strcasestr(
    text: *const c_char,
    wanted: *const c_char,
) -> *mut c_char {
    unsafe {
        calls::__tgi_args_taken();
        let result = strcasestr(text, wanted);
        let whole = string(text);
        if whole.symbolic() && !ascii_case() {
            answer(0);
            give_up_outside();
            return result;
        }
        find_string(
            whole,
            wanted.cast(),
            strlen(wanted),
            result as u64,
            (text::TERMINATED | text::FOLD, lower),
        );
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_memmem(
    text: *const c_void,
    size: usize,
    wanted: *const c_void,
    wanted_size: usize,
) -> *mut c_void {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = memmem(text, size, wanted, wanted_size);
        let whole = Text::new(text.cast(), size);
        find_string(whole, wanted.cast(), wanted_size, result as u64, (0, unchanged));
        result
    }
}
