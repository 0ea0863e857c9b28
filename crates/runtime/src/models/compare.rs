//! Comparisons and lengths of strings and memory, of bytes and of wide characters: one expression for the result,
//! however long the operands are.

use super::logic::*;
use super::{MAX_STRING, answer, answer_checked, element, extent, give_up, give_up_outside};
use crate::build::Value;
use crate::calls::{self, Args};
use crate::stretches::Passed;
use crate::texts::{self, Bytes};
use crate::{samples, shadow, state, stretches};
use core::ffi::{c_char, c_int, c_void};
use trace::{ConcretiseReason, Op, text};

unsafe extern "C" {
    fn strcmp(a: *const c_char, b: *const c_char) -> c_int;
    fn strncmp(a: *const c_char, b: *const c_char, limit: usize) -> c_int;
    fn strcoll(a: *const c_char, b: *const c_char) -> c_int;
    fn strcasecmp(a: *const c_char, b: *const c_char) -> c_int;
    fn strncasecmp(a: *const c_char, b: *const c_char, limit: usize) -> c_int;
    fn memcmp(a: *const c_void, b: *const c_void, size: usize) -> c_int;
    fn strlen(string: *const c_char) -> usize;
    fn strnlen(string: *const c_char, limit: usize) -> usize;
    fn setlocale(category: c_int, name: *const c_char) -> *const c_char;
}

const LC_COLLATE: c_int = 3;

/// How two sequences are compared, element by element.
#[derive(Clone, Copy)]
pub(super) struct Order {
    /// Bytes of an element.
    pub size: usize,
    /// `Ult` or `Slt`.
    pub less: Op,
    /// Elements that are both 0 end the comparison.
    pub terminated: bool,
    /// Maps elements that count as equal to one.
    pub fold: unsafe fn(Value) -> Value,
    /// The same for the comparison of texts in one node, if that can be.
    pub flags: Option<u16>,
}

unsafe fn unchanged(element: Value) -> Value {
    element
}

pub(super) const MEMORY: Order =
    Order { size: 1, less: Op::Ult, terminated: false, fold: unchanged, flags: Some(0) };
pub(super) const STRINGS: Order = Order { terminated: true, flags: Some(text::TERMINATED), ..MEMORY };
const FOLDED: Order = Order { fold: lower, flags: Some(text::TERMINATED | text::FOLD), ..STRINGS };
pub(super) const WIDE_MEMORY: Order = Order { size: 4, less: Op::Slt, flags: None, ..MEMORY };
pub(super) const WIDE_STRINGS: Order = Order { terminated: true, ..WIDE_MEMORY };

impl Order {
    /// `sign(a[0..count] - b[0..count])` as an expression.
    ///
    /// ```text
    /// r(i) = if a[i] == b[i] { r(i + 1) } else if a[i] < b[i] { below } else { above }
    /// ```
    /// `below` and `above` are `result` where its sign fits, so that the expression has the value which the library
    /// returned; the standard fixes the sign only.
    unsafe fn difference(&self, a: *const u8, b: *const u8, count: usize, result: c_int) -> Value {
        unsafe {
            if let Some(one) = self.difference_in_one(a, b, count, result) {
                return one;
            }
            let below = Value::concrete(if result < 0 { result } else { -1 } as u32 as u64);
            let above = Value::concrete(if result > 0 { result } else { 1 } as u64);
            let bits = self.size as u32 * 8;
            let mut rest = FALSE;
            for i in (0..count).rev() {
                let [x, y] = [a, b].map(|start| (self.fold)(element(start.add(i * self.size), self.size)));
                if self.terminated && x.label != 0 && y.label != 0 {
                    rest = choose(32, apply_to(Op::Eq, bits, x, 0), FALSE, rest);
                }
                let unequal = choose(32, apply(self.less, bits, x, y), below, above);
                rest = choose(32, apply(Op::Eq, bits, x, y), rest, unequal);
            }
            rest
        }
    }

    /// The same over one node for the sign, if one side is concrete.
    unsafe fn difference_in_one(
        &self,
        a: *const u8,
        b: *const u8,
        count: usize,
        result: c_int,
    ) -> Option<Value> {
        unsafe {
            let [a, b] = [a, b].map(|start| Bytes { start, size: count });
            let is_first = a.is_symbolic();
            let (of, pattern) = if is_first { (a, b) } else { (b, a) };
            let sign = texts::compare(of, pattern, self.flags?)?;
            let below = Value::concrete(if result < 0 { result } else { -1 } as u32 as u64);
            let above = Value::concrete(if result > 0 { result } else { 1 } as u64);
            let less = apply_to(Op::Slt, 32, sign, 0);
            let (yes, no) = if is_first { (below, above) } else { (above, below) };
            let unequal = choose(32, less, yes, no);
            Some(choose(32, apply_to(Op::Eq, 32, sign, 0), FALSE, unequal))
        }
    }

    /// Whether `a[0..count]` and `b[0..count]` are equal.
    unsafe fn equal(&self, a: *const u8, b: *const u8, count: usize) -> Value {
        unsafe {
            let texts = [a, b].map(|start| Bytes { start, size: count });
            let (of, pattern) =
                if texts[0].is_symbolic() { (texts[0], texts[1]) } else { (texts[1], texts[0]) };
            if let Some(sign) = self.flags.and_then(|flags| texts::compare(of, pattern, flags)) {
                return apply_to(Op::Eq, 32, sign, 0);
            }
            let mut equal = TRUE;
            for i in 0..count {
                let [x, y] = [a, b].map(|start| element(start.add(i * self.size), self.size));
                let same = apply(Op::Eq, self.size as u32 * 8, x, y);
                if same.label == 0 && same.value == 0 {
                    return same;
                }
                equal = both(equal, same);
            }
            equal
        }
    }

    /// Answers a comparison of `count` elements.
    pub(super) unsafe fn compared(&self, a: *const u8, b: *const u8, count: usize, result: c_int) {
        unsafe { self.answered(a, b, count, result, || self.difference(a, b, count, result)) }
    }

    /// The same where only 0 is told from other results.
    unsafe fn compared_for_equality(&self, a: *const u8, b: *const u8, count: usize, result: c_int) {
        unsafe {
            let other = Value::concrete(if result == 0 { 1 } else { result } as u32 as u64);
            self.answered(a, b, count, result, || choose(32, self.equal(a, b, count), FALSE, other));
        }
    }

    #[inline(always)]
    unsafe fn answered(
        &self,
        a: *const u8,
        b: *const u8,
        count: usize,
        result: c_int,
        value: impl FnOnce() -> Value,
    ) {
        unsafe {
            answer(0);
            let bytes = count.saturating_mul(self.size);
            if !state::active() || ![a, b].iter().any(|start| shadow::any_label(*start as usize, bytes)) {
                return;
            }
            let Some(_entered) = state::enter() else { return };
            if count > MAX_STRING {
                return give_up();
            }
            answer_checked(value(), result as u32 as u64);
        }
    }

    /// Answers a comparison of strings of which at most `limit` elements count.
    pub(super) unsafe fn compared_strings(&self, a: *const u8, b: *const u8, limit: usize, result: c_int) {
        unsafe {
            answer(0);
            if state::active() {
                let size = self.length(a, limit).min(self.length(b, limit));
                self.compared(a, b, size.saturating_add(1).min(limit), result);
                if limit == usize::MAX && self.size == 1 {
                    tell_lengths(a, b);
                }
            }
        }
    }

    /// Elements of a string before its end on any input.
    unsafe fn length(&self, string: *const u8, limit: usize) -> usize {
        unsafe {
            let length = if self.size == 1 {
                strnlen(string.cast(), limit)
            } else {
                let wide = string.cast::<i32>();
                (0..limit).find(|&i| wide.add(i).read_unaligned() == 0).unwrap_or(limit)
            };
            extent(string, self.size, length, limit).count
        }
    }

    /// Answers with the length of a string of which `count` elements were found before a 0 or the limit.
    pub(super) unsafe fn measured(&self, string: *const u8, count: usize, limit: usize) {
        unsafe {
            answer(0);
            let seen = count.saturating_add(1).min(limit);
            if !state::active() || !shadow::any_label(string as usize, seen.saturating_mul(self.size)) {
                return;
            }
            let Some(_entered) = state::enter() else { return };
            if count > MAX_STRING {
                return give_up();
            }
            let whole = extent(string, self.size, count, limit);
            if !whole.closed {
                ask(self.is_end(string, count));
            }
            if self.size == 1 && ask_cut(string, count, limit) {
                return (0..count).for_each(|i| {
                    ask(self.is_end(string, i));
                });
            }
            answer_checked(self.measure(string, whole.count), count as u64);
        }
    }

    unsafe fn is_end(&self, string: *const u8, i: usize) -> Value {
        unsafe { apply_to(Op::Eq, self.size as u32 * 8, element(string.add(i * self.size), self.size), 0) }
    }

    /// The number of elements before the first 0, or `count` if there is none among that many; with the guard held.
    pub(super) unsafe fn measure(&self, string: *const u8, count: usize) -> Value {
        unsafe {
            let zero = [0u8];
            let (of, end) = (Bytes { start: string, size: count }, Bytes { start: zero.as_ptr(), size: 1 });
            let passed = if self.size == 1 { stretches::passed(string, count) } else { Passed::NONE };
            if passed.any() {
                return passed.place((0..count).find(|i| ask(self.is_end(string, *i))).unwrap_or(count));
            }
            if (0..count).all(|i| self.is_end(string, i).label == 0) {
                return Value::concrete(count as u64);
            }
            if self.size == 1
                && let Some(one) = texts::find(of, end, 0)
            {
                return one;
            }
            let mut rest = Value::concrete(count as u64);
            for i in (0..count).rev() {
                rest = choose(64, self.is_end(string, i), Value::concrete(i as u64), rest);
            }
            rest
        }
    }
}

/// Strings of different length are words that an input could have in each other's place.
unsafe fn tell_lengths(a: *const u8, b: *const u8) {
    unsafe {
        let [a, b] = [a, b].map(|start| Bytes { start, size: strlen(start.cast()) });
        if a.size != b.size
            && let Some(_entered) = state::enter()
        {
            samples::differ(a, b);
        }
    }
}

/// Of a string at most `limit` bytes count, and on this run `size`: with a stretch in it, whether it is longer is a branch, with the guard held.
pub(super) unsafe fn ask_cut(string: *const u8, size: usize, limit: usize) -> bool {
    unsafe {
        if !stretches::any() || limit == usize::MAX {
            return false;
        }
        ask(apply(Op::Ule, 64, Value::concrete(limit as u64), stretches::reach(string, size)))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strcmp(a: *const c_char, b: *const c_char) -> c_int {
    unsafe {
        calls::__tgi_args_taken();
        let result = strcmp(a, b);
        STRINGS.compared_strings(a.cast(), b.cast(), usize::MAX, result);
        result
    }
}

/// True if strings are ordered by their bytes.
unsafe fn collates_bytes() -> bool {
    unsafe {
        let name = setlocale(LC_COLLATE, core::ptr::null()).cast::<u8>();
        if name.is_null() {
            return false;
        }
        let plain = *name == b'C' && matches!(*name.add(1), 0 | b'.');
        plain || strcmp(name.cast(), c"POSIX".as_ptr()) == 0
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strcoll(a: *const c_char, b: *const c_char) -> c_int {
    unsafe {
        calls::__tgi_args_taken();
        let result = strcoll(a, b);
        answer(0);
        if !state::active() {
            return result;
        }
        if collates_bytes() {
            STRINGS.compared_strings(a.cast(), b.cast(), usize::MAX, result);
        } else if [a, b].iter().any(|string| shadow::any_label(*string as usize, strlen(*string))) {
            give_up_outside();
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strncmp(a: *const c_char, b: *const c_char, limit: usize) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = strncmp(a, b, limit);
        STRINGS.compared_strings(a.cast(), b.cast(), limit, result);
        result
    }
}

unsafe fn compared_folded(a: *const c_char, b: *const c_char, limit: usize, result: c_int) {
    unsafe {
        answer(0);
        if !state::active() {
            return;
        }
        if ascii_case() {
            FOLDED.compared_strings(a.cast(), b.cast(), limit, result);
        } else if [a, b].iter().any(|s| shadow::any_label(*s as usize, strnlen(*s, limit))) {
            give_up_outside();
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strcasecmp(a: *const c_char, b: *const c_char) -> c_int {
    unsafe {
        calls::__tgi_args_taken();
        let result = strcasecmp(a, b);
        compared_folded(a, b, usize::MAX, result);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strncasecmp(
    a: *const c_char,
    b: *const c_char,
    limit: usize,
) -> c_int {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let result = strncasecmp(a, b, limit);
        compared_folded(a, b, limit, result);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_memcmp(a: *const c_void, b: *const c_void, size: usize) -> c_int {
    unsafe {
        super::copy::take_sized(2, [a, b], size, 1);
        let result = memcmp(a, b, size);
        MEMORY.compared(a.cast(), b.cast(), size, result);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_bcmp(a: *const c_void, b: *const c_void, size: usize) -> c_int {
    unsafe {
        super::copy::take_sized(2, [a, b], size, 1);
        let result = memcmp(a, b, size);
        MEMORY.compared_for_equality(a.cast(), b.cast(), size, result);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strlen(string: *const c_char) -> usize {
    unsafe {
        calls::__tgi_args_taken();
        let size = strlen(string);
        STRINGS.measured(string.cast(), size, usize::MAX);
        size
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_strnlen(string: *const c_char, limit: usize) -> usize {
    unsafe {
        calls::concretise_args(&Args::take(), ConcretiseReason::CopyLength);
        let size = strnlen(string, limit);
        STRINGS.measured(string.cast(), size, limit);
        size
    }
}
