//! Decimal numbers in text as floats. The digits before and after the point form one integer `m`,
//! and the value is `m * 10^e` or `m / 10^-e`: with at most 15 digits and `|e| <= 22` both operands
//! are exact, so that one rounding gives what the library gives. Other forms (long, hexadecimal,
//! infinite) stay concrete.

use super::element::{Element, MAX_STRING};
use super::logic::*;
use super::numbers::*;
use super::{answer, give_up, guarded};
use runtime_core::build::Value;
use runtime_core::calls::{Args, call_site};
use runtime_core::state::Run;
use runtime_core::{events, nodes, state};
use trace::{ConcretiseReason, Node, Op};

const MAX_DIGITS: usize = 15;
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
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
    fn read(&mut self, run: &Run, text: &impl Characters, mut next: usize, limit: usize) -> usize {
        while next < limit
            && let Some(c) = text.at(run, next)
            && branch_on(run, within(run, c, b'0', b'9'))
        {
            if self.count < MAX_DIGITS {
                let digit = zero_extended(run, 8, 64, apply_to(run, Op::Sub, 8, c, b'0' as u64));
                self.number =
                    apply(run, Op::Add, 64, apply_to(run, Op::Mul, 64, self.number, 10), digit);
            }
            self.count += 1;
            next += 1;
        }
        next
    }
}

/// Reads `[+-]? digits? [.]? digits? ([eE] [+-]? digits)?`; `None` for other forms of numbers.
pub(super) fn read_decimal(
    run: &Run,
    text: &impl Characters,
    start: usize,
    width: usize,
) -> Option<Decimal> {
    let limit = start.saturating_add(width.min(MAX_STRING));
    let at = |index: usize| if index < limit { text.at(run, index) } else { None };
    let (negative, sign) = read_sign(run, at(start));
    let whole = start + sign;
    let mut mantissa = Mantissa { number: FALSE, count: 0 };
    let mut next = mantissa.read(run, text, whole, limit);
    if next == whole + 1 && at(whole)?.value == b'0' as u64 && is_letter(run, at(next), b'x') {
        return None;
    }
    let before_point = mantissa.count;
    if at(next).is_some_and(|c| branch_on(run, is(run, c, b'.'))) {
        let end = mantissa.read(run, text, next + 1, limit);
        next = if mantissa.count > 0 { end } else { next };
    }
    if mantissa.count == 0 {
        return no_digits(run, at(whole));
    }
    let fraction = (mantissa.count - before_point) as i64;
    let (exponent, end) = read_exponent(run, text, next, limit);
    if mantissa.count > MAX_DIGITS {
        return None;
    }
    let number = scaled(run, mantissa.number, exponent - fraction)?;
    let number = if negative { apply_to(run, Op::Xor, 64, number, 1 << 63) } else { number };
    Some(Decimal { number, end: Some(end) })
}

/// Whether the character is a letter in either case: a branch.
fn is_letter(run: &Run, c: Option<Value>, letter: u8) -> bool {
    c.is_some_and(|c| {
        branch_on(run, either(run, is(run, c, letter), is(run, c, letter.to_ascii_uppercase())))
    })
}

/// Letters may still be `inf` or `nan`.
fn no_digits(run: &Run, first: Option<Value>) -> Option<Decimal> {
    if let Some(c) = first {
        let mut letters = ByteSet::EMPTY;
        for letter in [b'i', b'I', b'n', b'N'] {
            letters.insert(letter);
        }
        if branch_on(run, letters.holds(run, c)) {
            return None;
        }
    }
    Some(Decimal { number: FALSE, end: None })
}

/// The exponent, fixed to its value, and where it ends.
fn read_exponent(run: &Run, text: &impl Characters, start: usize, limit: usize) -> (i64, usize) {
    let letter = if start < limit { text.at(run, start) } else { None };
    if !is_letter(run, letter, b'e') {
        return (0, start);
    }
    let format = Format { width: limit - start - 1, ..PLAIN };
    let parsed = read_number(run, text, start + 1, &format);
    events::concretise(run, parsed.number.label, ConcretiseReason::Argument, call_site());
    match parsed.end {
        Some(end) => (parsed.number.value as i64, end),
        None => (0, start),
    }
}

/// `m * 10^exponent`; `None` where that is not exact.
fn scaled(run: &Run, m: Value, exponent: i64) -> Option<Value> {
    let exact = m.value as f64;
    let float = Value::new(unary(run, Op::UToF, m.label, exact), exact.to_bits());
    let power = *POWERS.get(exponent.unsigned_abs() as usize)?;
    if exponent == 0 {
        return Some(float);
    }
    let (op, result) =
        if exponent > 0 { (Op::FMul, exact * power) } else { (Op::FDiv, exact / power) };
    if m.label == 0 {
        return Some(Value::concrete(result.to_bits()));
    }
    let node = Node::binary(op, 64, float.label, nodes::constant(run, 64, power.to_bits()));
    Some(Value::new(nodes::make(run, node, result.to_bits()), result.to_bits()))
}

fn unary(run: &Run, op: Op, label: u32, result: f64) -> u32 {
    if label == 0 { 0 } else { nodes::make(run, Node::unary(op, 64, label), result.to_bits()) }
}

/// A `double` as a `float`.
pub(super) fn narrowed(run: &Run, number: Value) -> Value {
    let value = (f64::from_bits(number.value) as f32).to_bits() as u64;
    if number.label == 0 {
        return Value::concrete(value);
    }
    Value::new(nodes::make(run, Node::unary(Op::FConv, 32, number.label), value), value)
}

/// Answers with the number at `text`, of which the library says that it is `result` and ends at
/// `end`.
fn answer_number<E: Element>(
    run: &Run,
    text: *const E,
    end: *const E,
    result: u64,
    shape: fn(&Run, Value) -> Value,
) {
    answer(0);
    let text = InMemory::new(text);
    if !state::active(run) || !text.is_symbolic(end) {
        return;
    }
    guarded(|run| {
        let start = skip_space(run, &text);
        let Some(read) = read_decimal(run, &text, start, usize::MAX) else { return give_up(run) };
        let number = shape(run, read.number);
        if number.value == result && read.end.unwrap_or(0) == text.index_of(end) {
            answer(number.label);
        } else {
            give_up(run);
        }
    });
}

fn unchanged(_: &Run, number: Value) -> Value {
    number
}

/// How the library reads a float.
type Read<E, N> = unsafe extern "C" fn(*const E, *mut *mut E) -> N;

/// `strtod`
pub(super) fn double<E: Element>(
    run: &Run,
    real: Read<E, f64>,
    _: &Args,
    text: *const E,
    end: *mut *mut E,
) -> f64 {
    let mut place = core::ptr::null_mut();
    // SAFETY: the program's own call, with a place of ours for the end.
    let result = unsafe { real(text, &raw mut place) };
    note_end(end, place);
    answer_number(run, text, place, result.to_bits(), unchanged);
    result
}

/// `strtof`
pub(super) fn float<E: Element>(
    run: &Run,
    real: Read<E, f32>,
    _: &Args,
    text: *const E,
    end: *mut *mut E,
) -> f32 {
    let mut place = core::ptr::null_mut();
    // SAFETY: the program's own call, with a place of ours for the end.
    let result = unsafe { real(text, &raw mut place) };
    note_end(end, place);
    answer_number(run, text, place, result.to_bits() as u64, narrowed);
    result
}
