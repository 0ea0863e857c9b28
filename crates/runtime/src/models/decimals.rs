//! Decimal numbers in text as floats. The digits before and after the point form one integer `m`,
//! and the value is `m * 10^e` or `m / 10^-e`: with at most 15 digits and `|e| <= 22` both operands
//! are exact, so that one rounding gives what the library gives. Other forms (long, hexadecimal,
//! infinite) stay concrete.

use super::element::{Element, MAX_STRING};
use super::logic::*;
use super::numbers::*;
use super::{answer, call_site, give_up, guarded};
use crate::build::Value;
use crate::calls::Args;
use crate::{events, nodes, state};
use trace::{ConcretiseReason, Node, Op};

const MAX_DIGITS: usize = 15;
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// A number of a simple form.
pub(super) struct Decimal {
    /// Bits of a `double`.
    pub number: Value,
    /// Where the text goes on; `None` if there is no number.
    pub end: Option<usize>,
}

/// Digits of one integer, with or without a point between them.
struct Mantissa {
    number: Value,
    count: usize,
}

impl Mantissa {
    unsafe fn read(&mut self, text: &impl Characters, mut next: usize, limit: usize) -> usize {
        unsafe {
            while next < limit
                && let Some(c) = text.at(next)
                && branch_on(within(c, b'0', b'9'))
            {
                if self.count < MAX_DIGITS {
                    let digit = zero_extended(8, 64, apply_to(Op::Sub, 8, c, b'0' as u64));
                    self.number = apply(Op::Add, 64, apply_to(Op::Mul, 64, self.number, 10), digit);
                }
                self.count += 1;
                next += 1;
            }
            next
        }
    }
}

/// Reads `[+-]? digits? [.]? digits? ([eE] [+-]? digits)?`; `None` for other forms of numbers.
pub(super) unsafe fn read_decimal(text: &impl Characters, start: usize, width: usize) -> Option<Decimal> {
    unsafe {
        let limit = start.saturating_add(width.min(MAX_STRING));
        let at = |index: usize| if index < limit { text.at(index) } else { None };
        let (negative, sign) = read_sign(at(start));
        let whole = start + sign;
        let mut mantissa = Mantissa { number: FALSE, count: 0 };
        let mut next = mantissa.read(text, whole, limit);
        if next == whole + 1 && at(whole)?.value == b'0' as u64 && is_letter(at(next), b'x') {
            return None;
        }
        let before_point = mantissa.count;
        if at(next).is_some_and(|c| branch_on(is(c, b'.'))) {
            let end = mantissa.read(text, next + 1, limit);
            next = if mantissa.count > 0 { end } else { next };
        }
        if mantissa.count == 0 {
            return no_digits(at(whole));
        }
        let fraction = (mantissa.count - before_point) as i64;
        let (exponent, end) = read_exponent(text, next, limit);
        if mantissa.count > MAX_DIGITS {
            return None;
        }
        let number = scaled(mantissa.number, exponent - fraction)?;
        let number = if negative { apply_to(Op::Xor, 64, number, 1 << 63) } else { number };
        Some(Decimal { number, end: Some(end) })
    }
}

/// Whether the character is a letter in either case: a branch.
unsafe fn is_letter(c: Option<Value>, letter: u8) -> bool {
    unsafe { c.is_some_and(|c| branch_on(either(is(c, letter), is(c, letter.to_ascii_uppercase())))) }
}

/// Letters may still be `inf` or `nan`.
unsafe fn no_digits(first: Option<Value>) -> Option<Decimal> {
    unsafe {
        if let Some(c) = first {
            let mut letters = ByteSet::EMPTY;
            for letter in [b'i', b'I', b'n', b'N'] {
                letters.insert(letter);
            }
            if branch_on(letters.holds(c)) {
                return None;
            }
        }
        Some(Decimal { number: FALSE, end: None })
    }
}

/// The exponent, fixed to its value, and where it ends.
unsafe fn read_exponent(text: &impl Characters, start: usize, limit: usize) -> (i64, usize) {
    unsafe {
        let letter = if start < limit { text.at(start) } else { None };
        if !is_letter(letter, b'e') {
            return (0, start);
        }
        let format = Format { width: limit - start - 1, ..PLAIN };
        let parsed = read_number(text, start + 1, &format);
        events::concretise(parsed.number.label, ConcretiseReason::Argument, call_site());
        match parsed.end {
            Some(end) => (parsed.number.value as i64, end),
            None => (0, start),
        }
    }
}

/// `m * 10^exponent`; `None` where that is not exact.
unsafe fn scaled(m: Value, exponent: i64) -> Option<Value> {
    unsafe {
        let exact = m.value as f64;
        let float = Value::new(unary(Op::UToF, m.label, exact), exact.to_bits());
        let power = *POWERS.get(exponent.unsigned_abs() as usize)?;
        if exponent == 0 {
            return Some(float);
        }
        let (op, result) = if exponent > 0 { (Op::FMul, exact * power) } else { (Op::FDiv, exact / power) };
        if m.label == 0 {
            return Some(Value::concrete(result.to_bits()));
        }
        let node = Node::binary(op, 64, float.label, nodes::constant(64, power.to_bits()));
        Some(Value::new(nodes::make(node, result.to_bits()), result.to_bits()))
    }
}

unsafe fn unary(op: Op, label: u32, result: f64) -> u32 {
    unsafe { if label == 0 { 0 } else { nodes::make(Node::unary(op, 64, label), result.to_bits()) } }
}

/// A `double` as a `float`.
pub(super) unsafe fn narrowed(number: Value) -> Value {
    unsafe {
        let value = (f64::from_bits(number.value) as f32).to_bits() as u64;
        if number.label == 0 {
            return Value::concrete(value);
        }
        Value::new(nodes::make(Node::unary(Op::FConv, 32, number.label), value), value)
    }
}

/// Answers with the number at `text`, of which the library says that it is `result` and ends at
/// `end`.
unsafe fn answer_number<E: Element>(
    text: *const E,
    end: *const E,
    result: u64,
    shape: unsafe fn(Value) -> Value,
) {
    unsafe {
        answer(0);
        // SAFETY: the library has read a number there.
        let text = InMemory::new(text);
        if !state::active() || !text.is_symbolic(end) {
            return;
        }
        guarded(|| {
            let start = skip_space(&text);
            let Some(read) = read_decimal(&text, start, usize::MAX) else { return give_up() };
            let number = shape(read.number);
            if number.value == result && read.end.unwrap_or(0) == text.index_of(end) {
                answer(number.label);
            } else {
                give_up();
            }
        });
    }
}

unsafe fn unchanged(number: Value) -> Value {
    number
}

/// How the library reads a float.
type Read<E, N> = unsafe extern "C" fn(*const E, *mut *mut E) -> N;

/// `strtod`
pub(super) unsafe fn double<E: Element>(
    real: Read<E, f64>,
    _: &Args,
    text: *const E,
    end: *mut *mut E,
) -> f64 {
    unsafe {
        let mut place = core::ptr::null_mut();
        let result = real(text, &raw mut place);
        note_end(end, place);
        answer_number(text, place, result.to_bits(), unchanged);
        result
    }
}

/// `strtof`
pub(super) unsafe fn float<E: Element>(
    real: Read<E, f32>,
    _: &Args,
    text: *const E,
    end: *mut *mut E,
) -> f32 {
    unsafe {
        let mut place = core::ptr::null_mut();
        let result = real(text, &raw mut place);
        note_end(end, place);
        answer_number(text, place, result.to_bits() as u64, narrowed);
        result
    }
}
