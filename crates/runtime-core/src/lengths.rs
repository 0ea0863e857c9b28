//! Expressions of the input's length.
//!
//! Programs ask at every byte whether there is another. Such conditions have labels without nodes
//! ([`Length`]), and what follows from the answers before is no constraint
//! ([`crate::facts::lengths`]). All functions need the runtime's guard.

use crate::build::Value;
use crate::facts::{self, lengths::Range};
use crate::state::Run;
use crate::{nodes, repetitions, shapes, values};
use trace::{LENGTH, Label, Length, LengthKind, Node, Op, SHAPED};

/// The condition that a label stands for, if it is one on the length.
#[inline(always)]
pub fn split(label: Label) -> Option<Length> {
    if label & (LENGTH | SHAPED) == LENGTH { Length::of(label) } else { None }
}

/// The node that such a label stands for.
pub fn node(run: &Run, length: Length) -> Node {
    let number = Length { kind: LengthKind::Number, ..length }.label();
    match length.kind {
        LengthKind::Number => Node::constant(64, length.number as u64),
        LengthKind::Less => Node::binary(Op::Ult, 1, nodes::length(run), number),
        LengthKind::Equal => Node::binary(Op::Eq, 1, nodes::length(run), number),
        LengthKind::NotLess | LengthKind::NotEqual => {
            Node::unary(Op::Not, 1, length.negated().label())
        }
        LengthKind::Rest => Node::binary(Op::Sub, 64, nodes::length(run), number),
    }
}

/// Its value on this run.
pub fn value(run: &Run, length: Length) -> u64 {
    let (len, number) = (run.segment.input_len(), length.number);
    match length.kind {
        LengthKind::Number => number as u64,
        LengthKind::Less => (len < number) as u64,
        LengthKind::Equal => (len == number) as u64,
        LengthKind::NotLess => (len >= number) as u64,
        LengthKind::NotEqual => (len != number) as u64,
        LengthKind::Rest => (len as u64).wrapping_sub(number as u64),
    }
}

/// From here on a condition has its present value; false if that says nothing new.
pub fn concretise(run: &Run, condition: Length) -> bool {
    let plain = if condition.is_negated() { condition.negated() } else { condition };
    plain.is_condition() && facts::lengths::learn(run, plain, value(run, plain) == 1)
}

/// `sum op constant`, or the other way round, of 64 bits, where the sum is the length and `more`.
struct Comparison {
    op: Op,
    more: u64,
    constant: u64,
    constant_first: bool,
}

impl Comparison {
    #[inline(always)]
    fn of(run: &Run, op: Op, a: Value, b: Value) -> Option<Comparison> {
        let (sum, constant, constant_first) = match (a.label, b.label) {
            (label, 0) => (label, b.value, false),
            (0, label) => (label, a.value, true),
            _ => return None,
        };
        Some(Comparison { op, more: more_than_length(run, sum)?, constant, constant_first })
    }

    /// 0 if what is known of the length decides it; `None` if it is no condition that a label
    /// without a node stands for.
    #[inline(always)]
    fn label(&self, run: &Run) -> Option<Label> {
        let lengths = facts::lengths::range(run);
        if !self.is_steady(lengths) {
            return None;
        }
        let length = if self.op == Op::Eq { equal(self, lengths) } else { ordered(self, lengths) };
        match length {
            None => Some(0),
            Some(length) => (length.number < Length::MOST).then(|| length.label()),
        }
    }

    fn holds(&self, len: u64) -> bool {
        let sum = len.wrapping_add(self.more);
        let (a, b) = if self.constant_first { (self.constant, sum) } else { (sum, self.constant) };
        match self.op {
            Op::Ult => a < b,
            Op::Ule => a <= b,
            op => values::binary(op, 64, a, b) == 1,
        }
    }

    /// Whether the sum grows with the length, without a jump, for all lengths that there can be.
    fn is_steady(&self, lengths: Range) -> bool {
        let [first, last] = [lengths.min, lengths.max].map(|len| len.wrapping_add(self.more));
        let is_signed = matches!(self.op, Op::Slt | Op::Sle);
        if is_signed { first as i64 <= last as i64 } else { first <= last }
    }
}

/// The constant that a label adds to the length.
#[inline(always)]
pub fn more_than_length(run: &Run, label: Label) -> Option<u64> {
    let len = nodes::length(run);
    if label == len {
        return Some(0);
    }
    if let Some(Length { kind: LengthKind::Rest, number }) = split(label) {
        return Some((number as u64).wrapping_neg());
    }
    if label <= len || label & (SHAPED | LENGTH) != 0 {
        return None;
    }
    let node = nodes::node(run, label);
    if node.op == Op::Add as u8 && node.a == len { nodes::as_constant(run, node.b) } else { None }
}

/// The label of the length and `more`, if it needs no node.
pub fn sum(run: &Run, more: u64) -> Option<Label> {
    let number = more.wrapping_neg();
    let fits = number < Length::MOST as u64 && number != 0;
    let is_asked = fits && nodes::length(run) != 0 && shapes::in_use(run) && !repetitions::any(run);
    is_asked.then(|| Length { kind: LengthKind::Rest, number: number as u32 }.label())
}

/// The label of `a op b` of `bits` bits, if that is what is left of the length, `a` being a
/// constant more or less than it.
#[inline(always)]
pub fn moved(run: &Run, op: Op, bits: u32, a: Value, b: Value) -> Option<Label> {
    if bits != 64 || b.label != 0 || nodes::length(run) == 0 || !matches!(op, Op::Add | Op::Sub) {
        return None;
    }
    let more = more_than_length(run, a.label)?;
    sum(run, if op == Op::Add { more.wrapping_add(b.value) } else { more.wrapping_sub(b.value) })
}

/// A label that has a node, where one is needed to know the label again.
pub fn with_node(run: &Run, label: Label) -> Label {
    match split(label) {
        Some(length @ Length { kind: LengthKind::Rest, number }) => {
            let minus = nodes::constant(run, 64, (number as u64).wrapping_neg());
            if minus == 0 {
                return 0;
            }
            nodes::make(
                run,
                Node::binary(Op::Add, 64, nodes::length(run), minus),
                value(run, length),
            )
        }
        _ => label,
    }
}

/// What the low `bits` bits of the length, or of a constant more, are made of if they are extended
/// again: they are all that it has.
pub fn extended(run: &Run, low: Node) -> Option<Label> {
    if low.op != Op::Extract as u8
        || low.aux != 0
        || low.bits >= 64
        || repetitions::any(run)
        || nodes::length(run) == 0
    {
        return None;
    }
    let more = more_than_length(run, low.a)?;
    let Range { min, max } = facts::lengths::range(run);
    let [first, last] = [min, max].map(|len| len.wrapping_add(more));
    (first <= last && last < 1 << (low.bits - 1)).then_some(low.a)
}

/// Whether a label is the length, a constant more or less than it, or a condition on it.
pub fn is_sum(run: &Run, label: Label) -> bool {
    split(label).is_some() || more_than_length(run, label).is_some()
}

/// The label of `a op b` of `bits` bits, if that is a condition on the length; see
/// `Comparison::label`.
#[inline(always)]
pub fn compared(run: &Run, op: Op, bits: u32, a: Value, b: Value) -> Option<Label> {
    let is_one = bits == 64
        && (a.label == 0) != (b.label == 0)
        && matches!(op, Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle);
    if !is_one || nodes::length(run) == 0 || !shapes::in_use(run) || repetitions::any(run) {
        return None;
    }
    Comparison::of(run, op, a, b)?.label(run)
}

/// The label of `a - b op constant` of 64 bits, or the other way round, as above.
pub fn compared_rest(
    run: &Run,
    op: Op,
    a: Value,
    b: Value,
    constant: u64,
    constant_first: bool,
) -> Option<Label> {
    if b.label != 0 || nodes::length(run) == 0 || !shapes::in_use(run) || repetitions::any(run) {
        return None;
    }
    let more = more_than_length(run, a.label)?.wrapping_sub(b.value);
    Comparison { op, more, constant, constant_first }.label(run)
}

fn equal(comparison: &Comparison, Range { min, max }: Range) -> Option<Length> {
    let number = comparison.constant.wrapping_sub(comparison.more);
    let is_open = min != max && (min..=max).contains(&number);
    is_open.then_some(Length { kind: LengthKind::Equal, number: number as u32 })
}

/// An order holds up to some length, or from one on.
fn ordered(comparison: &Comparison, Range { min, max }: Range) -> Option<Length> {
    let at_first = comparison.holds(min);
    if comparison.holds(max) == at_first {
        return None;
    }
    let number = first(min, max, |len| comparison.holds(len) != at_first);
    let kind = if at_first { LengthKind::Less } else { LengthKind::NotLess };
    Some(Length { kind, number: number.min(Length::MOST as u64) as u32 })
}

/// The first number for which a condition holds that does not hold for `below` and from some number
/// on does, `end` among them. It is mostly the next one, because programs read byte by byte.
fn first(mut below: u64, mut end: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let mut step = 1;
    while end - below > 1 {
        let middle = below + step.min((end - below) / 2).max(1);
        if holds(middle) {
            end = middle;
        } else {
            below = middle;
        }
        step *= 2;
    }
    end
}
