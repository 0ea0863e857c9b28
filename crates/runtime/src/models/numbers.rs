//! Integers in text. Which characters are digits is a branch for each character, as it would be in the library's own
//! code, and so is whether the number fits; the number is one expression over the digits.

use super::logic::*;
use super::{MAX_STRING, answer, byte, concretise, give_up};
use crate::build::Value;
use crate::calls::Args;
use crate::values::mask;
use crate::{shadow, state};
use core::ffi::{c_char, c_int, c_long};
use trace::{ConcretiseReason, Op};

/// A text that is read character by character.
pub(super) trait Characters {
    /// A 0 ends the text.
    const ENDS_WITH_ZERO: bool;

    /// The character at `index`; `None` behind the end.
    unsafe fn at(&self, index: usize) -> Option<Value>;
}

/// A string in memory. Its end reads as 0, which is neither digit nor space.
pub(super) struct InMemory(pub *const u8);

impl Characters for InMemory {
    const ENDS_WITH_ZERO: bool = true;

    unsafe fn at(&self, index: usize) -> Option<Value> {
        unsafe { Some(byte(self.0.add(index))) }
    }
}

/// How the digits of a number are read.
#[derive(Clone, Copy)]
pub(super) struct Format {
    /// 0, or 2 to 36.
    pub base: u32,
    pub signed: bool,
    /// `0b` is a prefix of base 2.
    pub binary_prefix: bool,
    /// Most characters that belong to the number.
    pub width: usize,
    /// A prefix that no digit follows belongs to the number as a whole, as in `scanf`; otherwise only its 0 does.
    pub keeps_prefix: bool,
}

/// A decimal number that `strtol` reads.
pub(super) const PLAIN: Format =
    Format { base: 10, signed: true, binary_prefix: false, width: usize::MAX, keeps_prefix: false };

/// What was read.
pub(super) struct Parsed {
    /// 64 bits.
    pub number: Value,
    /// Where the text goes on; `None` if there is no number.
    pub end: Option<usize>,
}

/// `base digits letters` as a set
fn digits_of(base: u32) -> ByteSet {
    let mut set = ByteSet::EMPTY;
    set.insert_range(b'0', b'0' + base.min(10) as u8 - 1);
    if base > 10 {
        set.insert_range(b'a', b'a' + (base - 11) as u8);
        set.insert_range(b'A', b'A' + (base - 11) as u8);
    }
    set
}

/// The value of a character that is a digit, 64 bits.
unsafe fn digit_value(c: Value, base: u32) -> Value {
    unsafe {
        let plain = apply_to(Op::Sub, 8, c, b'0' as u64);
        let narrow = if base <= 10 {
            plain
        } else {
            let letter = apply_to(Op::Sub, 8, apply_to(Op::Or, 8, c, 0x20), (b'a' - 10) as u64);
            choose(8, apply_to(Op::Ule, 8, c, b'9' as u64), plain, letter)
        };
        zero_extended(8, 64, narrow)
    }
}

/// A number that grows digit by digit up to a limit.
struct Sum {
    number: Value,
    base: u32,
    limit: u64,
    overflow: bool,
}

impl Sum {
    /// The largest number that the digits so far can be.
    unsafe fn append(&mut self, digit: Value, largest: u64) {
        unsafe {
            if self.overflow {
                return;
            }
            let base = self.base.max(2) as u64;
            let (cut, rest) = (self.limit / base, self.limit % base);
            // No digits of this count exceed the limit.
            let fits = largest <= self.limit;
            if !fits {
                let above = apply(Op::Ult, 64, Value::concrete(cut), self.number);
                let at_cut = apply_to(Op::Eq, 64, self.number, cut);
                let beyond = apply(Op::Ult, 64, Value::concrete(rest), digit);
                if ask(either(above, both(at_cut, beyond))) {
                    self.overflow = true;
                    self.number = Value::concrete(self.limit);
                    return;
                }
            }
            let scaled = apply_to(Op::Mul, 64, self.number, self.base as u64);
            self.number = apply(Op::Add, 64, scaled, digit);
        }
    }
}

/// Reads `[+-]? prefix? digit*` from `text` on from `start`.
pub(super) unsafe fn read_number(text: &impl Characters, start: usize, format: &Format) -> Parsed {
    unsafe {
        let limit = start.saturating_add(format.width);
        let at = |index: usize| if index < limit { text.at(index) } else { None };
        let mut next = start;
        let mut negative = false;
        if let Some(c) = at(next) {
            negative = ask(is(c, b'-'));
            if negative || ask(is(c, b'+')) {
                next += 1;
            }
        }
        let (base, prefix) = read_prefix(&at, next, format);
        let digits = next + prefix;
        let set = digits_of(base);
        let greatest = if !format.signed { u64::MAX } else { i64::MAX as u64 + negative as u64 };
        let mut sum = Sum { number: FALSE, base, limit: greatest, overflow: false };
        let mut largest = 0u64;
        let mut end = digits;
        while let Some(c) = at(end)
            && end - digits < MAX_STRING
            && ask(set.holds(c))
        {
            largest = largest.saturating_mul(base as u64).saturating_add(base as u64 - 1);
            sum.append(digit_value(c, base), largest);
            end += 1;
        }
        let none = end == digits;
        let prefix_end = if format.keeps_prefix { digits } else { next + 1 };
        let end = if !none { Some(end) } else { (prefix > 0).then_some(prefix_end) };
        let clamped = sum.overflow && !format.signed;
        let number = if negative && !clamped { apply(Op::Sub, 64, FALSE, sum.number) } else { sum.number };
        Parsed { number, end }
    }
}

/// The base, and the number of characters that said so.
unsafe fn read_prefix(at: &impl Fn(usize) -> Option<Value>, start: usize, format: &Format) -> (u32, usize) {
    unsafe {
        let binary = format.binary_prefix && matches!(format.base, 0 | 2);
        if !matches!(format.base, 0 | 16) && !binary {
            return (format.base, 0);
        }
        let plain = if format.base == 0 { 10 } else { format.base };
        let Some(first) = at(start) else { return (plain, 0) };
        if !ask(is(first, b'0')) {
            return (plain, 0);
        }
        if let Some(second) = at(start + 1) {
            let either_case =
                |letter: u8| either(is(second, letter), is(second, letter.to_ascii_uppercase()));
            if format.base != 2 && ask(either_case(b'x')) {
                return (16, 2);
            }
            if binary && ask(either_case(b'b')) {
                return (2, 2);
            }
        }
        (if format.base == 0 { 8 } else { format.base }, 0)
    }
}

/// Reads a number as `strtol` does: white space first.
pub(super) unsafe fn read_all(text: &impl Characters, format: &Format) -> Parsed {
    unsafe {
        let mut start = 0;
        while start < MAX_STRING
            && let Some(c) = text.at(start)
            && ask(is_space(c))
        {
            start += 1;
        }
        read_number(text, start, format)
    }
}

/// Answers with the number at `text`, of which the library says that its low `bits` bits are `result` and that it ends
/// at `end`.
unsafe fn parsed(text: *const c_char, format: &Format, bits: u32, result: u64, end: usize) {
    unsafe {
        answer(0);
        let seen = end - text as usize + 2;
        if !state::active() || !shadow::any_label(text as usize, seen.min(MAX_STRING)) {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let read = read_all(&InMemory(text.cast()), format);
        let number = truncated(bits, read.number);
        let read_end = text as usize + read.end.unwrap_or(0);
        if number.value == result & mask(bits) && read_end == end {
            answer(number.label);
        } else {
            give_up();
        }
    }
}

unsafe extern "C" {
    fn strtol(text: *const c_char, end: *mut *mut c_char, base: c_int) -> c_long;
}

/// `(type) strtol(text, 0, 10)`
unsafe fn converted(text: *const c_char, bits: u32) -> c_long {
    unsafe {
        let _ = Args::take();
        let mut end = core::ptr::null_mut();
        let result = strtol(text, &raw mut end, 10);
        parsed(text, &PLAIN, bits, result as u64, end as usize);
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_atoi(text: *const c_char) -> c_int {
    unsafe { converted(text, 32) as c_int }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_atol(text: *const c_char) -> c_long {
    unsafe { converted(text, 64) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tarragon_model_atoll(text: *const c_char) -> c_long {
    unsafe { converted(text, 64) }
}

macro_rules! strtol {
    ($($name:ident = $real:ident: $result:ty, $signed:literal, $binary:literal;)*) => {
        #[allow(clashing_extern_declarations)]
        mod real {
            use super::*;
            unsafe extern "C" {
                $(pub(super) fn $real(text: *const c_char, end: *mut *mut c_char, base: c_int) -> $result;)*
            }
        }
        $(#[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(text: *const c_char, end: *mut *mut c_char, base: c_int) -> $result {
            unsafe {
                concretise(Args::take().label(2), ConcretiseReason::Argument);
                if base != 0 && !(2..=36).contains(&base) {
                    answer(0);
                    return real::$real(text, end, base);
                }
                let mut place = core::ptr::null_mut();
                let result = real::$real(text, &raw mut place, base);
                // The branches fix where the number ends, so the pointer is concrete.
                if !end.is_null() {
                    *end = place;
                    shadow::clear(end as usize, 8);
                }
                let format = Format { base: base as u32, signed: $signed, binary_prefix: $binary, ..PLAIN };
                parsed(text, &format, 64, result as u64, place as usize);
                result
            }
        })*
    };
}

strtol!(
    __tarragon_model_strtol = strtol: c_long, true, false;
    __tarragon_model_strtoll = strtoll: c_long, true, false;
    __tarragon_model_strtoimax = strtoimax: c_long, true, false;
    __tarragon_model_strtoul = strtoul: u64, false, false;
    __tarragon_model_strtoull = strtoull: u64, false, false;
    __tarragon_model_strtoumax = strtoumax: u64, false, false;
    __tarragon_model___isoc23_strtol = __isoc23_strtol: c_long, true, true;
    __tarragon_model___isoc23_strtoll = __isoc23_strtoll: c_long, true, true;
    __tarragon_model___isoc23_strtoimax = __isoc23_strtoimax: c_long, true, true;
    __tarragon_model___isoc23_strtoul = __isoc23_strtoul: u64, false, true;
    __tarragon_model___isoc23_strtoull = __isoc23_strtoull: u64, false, true;
    __tarragon_model___isoc23_strtoumax = __isoc23_strtoumax: u64, false, true;
);
