//! Integers in text. Which characters are digits is a branch for each character, as it would be in
//! the library's own code, and so is whether the number fits; the number is one expression over the
//! digits.

use super::element::{Element, Elements, MAX_STRING};
use super::logic::*;
use super::table::real;
use super::{answer, give_up, guarded};
use core::ffi::{c_int, c_long};
use runtime_core::build::Value;
use runtime_core::calls::Args;
use runtime_core::state::Run;
use runtime_core::values::mask;
use runtime_core::{shadow, state};
use trace::Op;

/// A text that is read character by character.
pub(super) trait Characters {
    /// A 0 ends the text.
    const ENDS_WITH_ZERO: bool;

    /// The character at `index`; `None` after the end.
    fn at(&self, run: &Run, index: usize) -> Option<Value>;
}

/// A string in memory. Its end reads as 0, which is neither digit nor space.
pub(super) struct InMemory<E>(*const E);

impl<E: Element> InMemory<E> {
    /// The library has just read a number there. No kernel reads on after an element that ends it.
    pub(super) const fn new(start: *const E) -> InMemory<E> {
        InMemory(start)
    }

    /// Whether the number that ends at `end` depends on the input, as far as the library looked.
    pub(super) fn is_symbolic(&self, end: *const E) -> bool {
        let seen = self.index_of(end) + 2;
        Elements::new(self.0, seen.min(MAX_STRING)).is_symbolic()
    }

    pub(super) fn index_of(&self, end: *const E) -> usize {
        (end as usize).wrapping_sub(self.0 as usize) / E::SIZE
    }
}

impl<E: Element> Characters for InMemory<E> {
    const ENDS_WITH_ZERO: bool = true;

    fn at(&self, run: &Run, index: usize) -> Option<Value> {
        let c = Elements::new(self.0.wrapping_add(index), 1).at(run, 0);
        if E::SIZE == 1 {
            return Some(c);
        }
        // Wide characters beyond ASCII belong to no number.
        let is_ascii = branch_on(run, apply_to(run, Op::Ult, E::BITS, c, 0x80));
        Some(if is_ascii { truncated(run, 8, c) } else { OTHER })
    }
}

/// Neither digit nor sign nor space.
const OTHER: Value = Value::concrete(0xff);

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
    /// A prefix that no digit follows belongs to the number as a whole, as in `scanf`; otherwise
    /// only its 0 does.
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
fn digit_value(run: &Run, c: Value, base: u32) -> Value {
    let plain = apply_to(run, Op::Sub, 8, c, b'0' as u64);
    let narrow = if base <= 10 {
        plain
    } else {
        let letter =
            apply_to(run, Op::Sub, 8, apply_to(run, Op::Or, 8, c, 0x20), (b'a' - 10) as u64);
        choose(run, 8, apply_to(run, Op::Ule, 8, c, b'9' as u64), plain, letter)
    };
    zero_extended(run, 8, 64, narrow)
}

/// A number that grows digit by digit up to a limit.
struct Sum {
    number: Value,
    base: u32,
    limit: u64,
    overflow: bool,
}

impl Sum {
    /// Reads digits on from `start`; returns where they end.
    fn read_digits(
        &mut self,
        run: &Run,
        at: &impl Fn(usize) -> Option<Value>,
        start: usize,
    ) -> usize {
        let (set, base) = (digits_of(self.base), self.base as u64);
        let (mut largest, mut end) = (0u64, start);
        while let Some(c) = at(end)
            && end - start < MAX_STRING
            && branch_on(run, set.holds(run, c))
        {
            largest = largest.saturating_mul(base).saturating_add(base.saturating_sub(1));
            self.append(run, digit_value(run, c, self.base), largest);
            end += 1;
        }
        end
    }

    /// Adds a digit; `largest` is the largest number that so many digits can be.
    fn append(&mut self, run: &Run, digit: Value, largest: u64) {
        if self.overflow {
            return;
        }
        let base = self.base.max(2) as u64;
        let (cut, rest) = (self.limit / base, self.limit % base);
        // No digits of this count exceed the limit.
        let fits = largest <= self.limit;
        if !fits {
            let above = apply(run, Op::Ult, 64, Value::concrete(cut), self.number);
            let at_cut = apply_to(run, Op::Eq, 64, self.number, cut);
            let beyond = apply(run, Op::Ult, 64, Value::concrete(rest), digit);
            if branch_on(run, either(run, above, both(run, at_cut, beyond))) {
                self.overflow = true;
                self.number = Value::concrete(self.limit);
                return;
            }
        }
        let scaled = apply_to(run, Op::Mul, 64, self.number, self.base as u64);
        self.number = apply(run, Op::Add, 64, scaled, digit);
    }
}

/// Whether the text has a minus sign at `start`, and how many characters its sign has.
pub(super) fn read_sign(run: &Run, first: Option<Value>) -> (bool, usize) {
    let Some(c) = first else { return (false, 0) };
    let is_negative = branch_on(run, is(run, c, b'-'));
    (is_negative, (is_negative || branch_on(run, is(run, c, b'+'))) as usize)
}

/// Reads `[+-]? prefix? digit*` from `text` on from `start`.
pub(super) fn read_number(
    run: &Run,
    text: &impl Characters,
    start: usize,
    format: &Format,
) -> Parsed {
    let limit = start.saturating_add(format.width);
    let at = |index: usize| if index < limit { text.at(run, index) } else { None };
    let (negative, sign) = read_sign(run, at(start));
    let next = start + sign;
    let (base, prefix) = read_prefix(run, &at, next, format);
    let digits = next + prefix;
    let greatest = if !format.signed { u64::MAX } else { i64::MAX as u64 + negative as u64 };
    let mut sum = Sum { number: FALSE, base, limit: greatest, overflow: false };
    let end = sum.read_digits(run, &at, digits);
    let prefix_end = if format.keeps_prefix { digits } else { next + 1 };
    let end = if end != digits { Some(end) } else { (prefix > 0).then_some(prefix_end) };
    let clamped = sum.overflow && !format.signed;
    let negated = || apply(run, Op::Sub, 64, FALSE, sum.number);
    let number = if negative && !clamped { negated() } else { sum.number };
    Parsed { number, end }
}

/// The base, and the number of characters that said so.
fn read_prefix(
    run: &Run,
    at: &impl Fn(usize) -> Option<Value>,
    start: usize,
    format: &Format,
) -> (u32, usize) {
    let binary = format.binary_prefix && matches!(format.base, 0 | 2);
    if !matches!(format.base, 0 | 16) && !binary {
        return (format.base, 0);
    }
    let plain = if format.base == 0 { 10 } else { format.base };
    let Some(first) = at(start) else { return (plain, 0) };
    if !branch_on(run, is(run, first, b'0')) {
        return (plain, 0);
    }
    if let Some(second) = at(start + 1) {
        let either_case = |letter: u8| {
            either(run, is(run, second, letter), is(run, second, letter.to_ascii_uppercase()))
        };
        if format.base != 2 && branch_on(run, either_case(b'x')) {
            return (16, 2);
        }
        if binary && branch_on(run, either_case(b'b')) {
            return (2, 2);
        }
    }
    (if format.base == 0 { 8 } else { format.base }, 0)
}

/// Where the white space at the start of a text ends.
pub(super) fn skip_space(run: &Run, text: &impl Characters) -> usize {
    let is_space = |i: &usize| text.at(run, *i).is_some_and(|c| branch_on(run, is_space(run, c)));
    (0..MAX_STRING).find(|i| !is_space(i)).unwrap_or(MAX_STRING)
}

/// Reads a number as `strtol` does: white space first.
fn read_all(run: &Run, text: &impl Characters, format: &Format) -> Parsed {
    read_number(run, text, skip_space(run, text), format)
}

/// A result of the library's.
pub(super) trait Integer: Copy {
    const SIGNED: bool;
    fn bits(self) -> u64;
}

impl Integer for i64 {
    const SIGNED: bool = true;

    fn bits(self) -> u64 {
        self as u64
    }
}

impl Integer for u64 {
    const SIGNED: bool = false;

    fn bits(self) -> u64 {
        self
    }
}

/// Answers with the number at `text`, of which the library says that its low `bits` bits are
/// `result` and that it ends at `end`.
fn answer_number<E: Element>(
    run: &Run,
    text: *const E,
    format: &Format,
    bits: u32,
    result: u64,
    end: *const E,
) {
    answer(0);
    let text = InMemory::new(text);
    if !state::active(run) || !text.is_symbolic(end) {
        return;
    }
    guarded(|run| {
        let read = read_all(run, &text, format);
        let number = truncated(run, bits, read.number);
        if number.value == result & mask(bits) && read.end.unwrap_or(0) == text.index_of(end) {
            answer(number.label);
        } else {
            give_up(run);
        }
    });
}

/// How the library reads an integer.
type Read<E, N> = unsafe extern "C" fn(*const E, *mut *mut E, c_int) -> N;

/// `strtol`; with `binary_prefix` as of C23.
pub(super) fn integer<E: Element, N: Integer>(
    run: &Run,
    real: Read<E, N>,
    binary_prefix: bool,
    _: &Args,
    text: *const E,
    end: *mut *mut E,
    base: c_int,
) -> N {
    if base != 0 && !(2..=36).contains(&base) {
        answer(0);
        // SAFETY: the program's own call.
        return unsafe { real(text, end, base) };
    }
    let mut place = core::ptr::null_mut();
    // SAFETY: the program's own call, with a place of ours for the end.
    let result = unsafe { real(text, &raw mut place, base) };
    note_end(end, place);
    let format = Format { base: base as u32, signed: N::SIGNED, binary_prefix, ..PLAIN };
    answer_number(run, text, &format, 64, result.bits(), place);
    result
}

/// The branches fix where a number ends, so the pointer is concrete.
pub(super) fn note_end<E>(end: *mut *mut E, place: *mut E) {
    if !end.is_null() {
        // SAFETY: the program wants the end there.
        unsafe { *end = place };
        shadow::clear(end as usize, 8);
    }
}

/// `atol`
pub(super) fn long(run: &Run, labels: &Args, text: *const u8) -> c_long {
    decimal(run, labels, text, 64)
}

/// `atoi`
pub(super) fn int(run: &Run, labels: &Args, text: *const u8) -> c_int {
    decimal(run, labels, text, 32) as c_int
}

/// `(type) strtol(text, 0, 10)` where the type has so many bits.
fn decimal(run: &Run, _: &Args, text: *const u8, bits: u32) -> c_long {
    let mut end = core::ptr::null_mut();
    // SAFETY: what the program's own call of `atol` does.
    let result = unsafe { real::strtol(text, &raw mut end, 10) };
    answer_number(run, text, &PLAIN, bits, result as u64, end);
    result
}
