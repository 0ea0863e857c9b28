//! Expressions of instructions, simplified where that is cheap and makes later reasoning local:
//! comparisons and masks of an extended byte become constraints on the byte.
//!
//! A result of 0 means that the value does not depend on the input.

use crate::shapes::memo::Lookup;
use crate::state::{self, Run};
use crate::values::{self, mask};
use crate::varying::Bits;
use crate::{budget, facts, lengths, nodes, repetitions};
use trace::{Label, Node, Op};

/// An operand: its label and its value.
#[derive(Clone, Copy)]
pub struct Value {
    pub label: Label,
    pub value: u64,
}

impl Value {
    pub const fn new(label: Label, value: u64) -> Value {
        Value { label, value }
    }

    pub const fn concrete(value: u64) -> Value {
        Value { label: 0, value }
    }

    pub const fn with_label(self, label: Label) -> Value {
        Value { label, ..self }
    }

    /// The label, or that of a constant node.
    pub fn node(self, run: &Run, bits: u32) -> Label {
        if self.label == 0 { nodes::constant(run, bits, self.value) } else { self.label }
    }
}

/// `a op b` on operands of `bits` bits.
pub fn binary(run: &Run, op: Op, bits: u32, a: Value, b: Value) -> Label {
    match Lookup::binary(run, op, bits, a, b) {
        Some(lookup) => lookup.find_or_build(run, || simplified(run, op, bits, a, b)),
        None => lengths::compared(run, op, bits, a, b)
            .or_else(|| lengths::moved(run, op, bits, a, b))
            .unwrap_or_else(|| simplified(run, op, bits, a, b)),
    }
}

fn simplified(run: &Run, op: Op, bits: u32, a: Value, b: Value) -> Label {
    let (a, b) = budget::afford_both(run, operand(run, a), operand(run, b));
    if a.label == 0 && b.label == 0 {
        return 0;
    }
    let (a, b) = if a.label == 0 && commutes(op) { (b, a) } else { (a, b) };
    let result = if b.label == 0 {
        let constant = b.value & mask(bits);
        with_constant(run, op, bits, a, constant)
            .or_else(|| known(run, op, bits, a.label, constant))
    } else if a.label == b.label {
        same_operands(op, a.label)
    } else {
        None
    };
    result.unwrap_or_else(|| plain(run, op, bits, a, b))
}

/// Without its label where that says nothing.
fn operand(run: &Run, x: Value) -> Value {
    let x = budget::afford(run, repetitions::plain(run, x));
    if x.label != 0 && facts::follows(run, x.label) { Value::concrete(x.value) } else { x }
}

fn commutes(op: Op) -> bool {
    matches!(op, Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Eq)
}

fn is_comparison(op: Op) -> bool {
    matches!(op, Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle)
}

fn plain(run: &Run, op: Op, bits: u32, a: Value, b: Value) -> Label {
    let value = values::binary(op, bits, a.value & mask(bits), b.value & mask(bits));
    let (left, right) = (a.node(run, bits), b.node(run, bits));
    if left == 0 || right == 0 {
        return 0;
    }
    let result_bits = if is_comparison(op) { 1 } else { bits as u8 };
    concrete_if_constant(run, nodes::make(run, Node::binary(op, result_bits, left, right), value))
}

/// `x op x`
fn same_operands(op: Op, x: Label) -> Option<Label> {
    match op {
        Op::Sub | Op::Xor | Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle => Some(0),
        Op::And | Op::Or => Some(x),
        _ => None,
    }
}

/// `x op c`
fn with_constant(run: &Run, op: Op, bits: u32, x: Value, c: u64) -> Option<Label> {
    match op {
        Op::Add | Op::Sub => Some(add_constant(run, op, bits, x, c)),
        Op::Xor if bits == 1 && c == 1 => Some(not(run, 1, x)),
        Op::Or | Op::Xor | Op::Shl | Op::LShr | Op::AShr if c == 0 => Some(x.label),
        Op::And if c == 0 => Some(0),
        Op::And => and_constant(run, bits, x, c),
        Op::Mul if c == 0 => Some(0),
        Op::Mul | Op::UDiv | Op::SDiv if c == 1 => Some(x.label),
        Op::Eq if bits == 1 => Some(if c == 1 { x.label } else { not(run, 1, x) }),
        Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle => compare_constant(run, op, x, c),
        _ => None,
    }
}

/// `x op c` is the same for all inputs.
fn known(run: &Run, op: Op, bits: u32, x: Label, c: u64) -> Option<Label> {
    if bits > 64 || repetitions::any(run) {
        return None;
    }
    let is_known = match op {
        Op::And => Bits::of(run, x).and(Bits::known(c)).is_known(),
        Op::Or => Bits::of(run, x).or(Bits::known(c)).is_known(),
        Op::LShr => Bits::of(run, x).shift_right(c).is_known(),
        op if is_comparison(op) && bits > 8 => Bits::of(run, x).compares_alike(op, c, bits),
        _ => false,
    };
    is_known.then_some(0)
}

/// `(x + c) + d = x + (c + d)`, `x - d = x + (-d)`
fn add_constant(run: &Run, op: Op, bits: u32, x: Value, c: u64) -> Label {
    let mut sum = if op == Op::Sub { c.wrapping_neg() } else { c };
    let mut of = x.label;
    if let Some(more) = lengths::more_than_length(run, of) {
        (of, sum) = (nodes::length(run), sum.wrapping_add(more));
        if let Some(label) = lengths::sum(run, sum) {
            return label;
        }
    }
    let node = nodes::node(run, of);
    if node.op == Op::Add as u8
        && let Some(inner) = nodes::as_constant(run, node.b)
    {
        sum = sum.wrapping_add(inner);
        of = node.a;
    }
    sum &= mask(bits);
    if sum == 0 {
        return of;
    }
    plain(run, Op::Add, bits, Value::new(of, nodes::value(run, of)), Value::concrete(sum))
}

/// `(zext y) & c = zext y` if c covers y; `x & ones = x`
fn and_constant(run: &Run, bits: u32, x: Value, c: u64) -> Option<Label> {
    let node = nodes::node(run, x.label);
    let significant =
        if node.op == Op::ZExt as u8 { mask(nodes::bits(run, node.a)) } else { mask(bits) };
    if c & significant == significant {
        return Some(x.label);
    }
    if c & significant == 0 {
        return Some(0);
    }
    None
}

/// `zext y op c` and `sext y op c` as comparisons of y
fn compare_constant(run: &Run, op: Op, x: Value, c: u64) -> Option<Label> {
    let node = nodes::node(run, x.label);
    let (wide, signed) = (node.bits as u32, matches!(op, Op::Slt | Op::Sle));
    let is_extended = [Op::ZExt, Op::SExt].map(|op| op as u8).contains(&node.op);
    if !is_extended || wide > 64 {
        return None;
    }
    let narrow = nodes::bits(run, node.a);
    let y = Value::new(node.a, nodes::value(run, node.a));
    if node.op == Op::SExt as u8 {
        let fits = values::sign_extend(c, narrow) == values::sign_extend(c, wide);
        return match op {
            Op::Eq if !fits => Some(0),
            Op::Eq => Some(binary(run, op, narrow, y, Value::concrete(c & mask(narrow)))),
            _ if signed && fits => {
                Some(binary(run, op, narrow, y, Value::concrete(c & mask(narrow))))
            }
            _ => None,
        };
    }
    // A zero-extended value is not negative, so a signed comparison with a constant is an unsigned
    // one, or decided by the constant's sign.
    if signed && values::sign_extend(c, wide) < 0 {
        return Some(0);
    }
    if c > mask(narrow) {
        return Some(0);
    }
    let op = match op {
        Op::Slt => Op::Ult,
        Op::Sle => Op::Ule,
        other => other,
    };
    Some(binary(run, op, narrow, y, Value::concrete(c)))
}

/// `!x`, `!!x = x`
pub fn not(run: &Run, bits: u32, x: Value) -> Label {
    found_or_built(run, Op::Not, bits, bits, x, || simplified_not(run, bits, x))
}

/// What an operator makes of one operand of `from` bits: looked up, or built.
#[inline(always)]
fn found_or_built(
    run: &Run,
    op: Op,
    from: u32,
    to: u32,
    x: Value,
    build: impl Fn() -> Label,
) -> Label {
    match Lookup::unary(run, op, from, to, x.label) {
        Some(lookup) => lookup.find_or_build(run, build),
        None => build(),
    }
}

fn simplified_not(run: &Run, bits: u32, x: Value) -> Label {
    let x = repetitions::plain(run, x);
    if x.label == 0 {
        return 0;
    }
    if let Some(length) = lengths::split(x.label).filter(|length| length.is_condition()) {
        return length.negated().label();
    }
    let node = nodes::node(run, x.label);
    if node.op == Op::Not as u8 {
        return node.a;
    }
    nodes::make(run, Node::unary(Op::Not, bits as u8, x.label), !x.value & mask(bits))
}

/// Bit operations with one operand.
pub fn unary(run: &Run, op: Op, bits: u32, x: Value) -> Label {
    let x = repetitions::plain(run, x);
    if x.label == 0 {
        return 0;
    }
    nodes::make(
        run,
        Node::unary(op, bits as u8, x.label),
        values::unary(op, bits, x.value & mask(bits)),
    )
}

pub fn zext(run: &Run, from: u32, to: u32, x: Value) -> Label {
    if x.label == 0 || from == to {
        return x.label;
    }
    found_or_built(run, Op::ZExt, from, to, x, || simplified_zext(run, from, to, x))
}

fn simplified_zext(run: &Run, from: u32, to: u32, x: Value) -> Label {
    let node = nodes::node(run, x.label);
    if to == 64
        && let Some(length) = lengths::extended(run, node)
    {
        return length;
    }
    let of = if node.op == Op::ZExt as u8 { node.a } else { x.label };
    nodes::make(run, Node::unary(Op::ZExt, to as u8, of), x.value & mask(from))
}

pub fn sext(run: &Run, from: u32, to: u32, x: Value) -> Label {
    if x.label == 0 || from == to {
        return x.label;
    }
    found_or_built(run, Op::SExt, from, to, x, || simplified_sext(run, from, to, x))
}

fn simplified_sext(run: &Run, from: u32, to: u32, x: Value) -> Label {
    let node = nodes::node(run, x.label);
    let value = values::sign_extend(x.value, from) as u64 & mask(to);
    if to == 64
        && let Some(length) = lengths::extended(run, node)
    {
        return length;
    }
    // sext (zext y) = zext y; sext (sext y) = sext y
    if node.op == Op::ZExt as u8 || node.op == Op::SExt as u8 {
        return nodes::make(run, Node { bits: to as u8, ..node }, value);
    }
    nodes::make(run, Node::unary(Op::SExt, to as u8, x.label), value)
}

pub fn trunc(run: &Run, to: u32, x: Value) -> Label {
    if x.label == 0 {
        return 0;
    }
    let from = nodes::bits(run, x.label);
    found_or_built(run, Op::Extract, from, to, x, || {
        concrete_if_constant(run, nodes::extract(run, x.label, 0, to, x.value & mask(to)))
    })
}

pub(crate) fn concrete_if_constant(run: &Run, label: Label) -> Label {
    let is_constant = label != 0 && nodes::as_constant(run, label).is_some();
    if is_constant && !repetitions::is_filler(run, label) { 0 } else { label }
}

/// `if condition { yes } else { no }`
pub fn ite(run: &Run, bits: u32, condition: Value, yes: Value, no: Value) -> Label {
    let condition = operand(run, condition);
    let (taken, same) = (condition.value & 1 == 1, yes.label == no.label);
    if condition.label == 0 || (same && (yes.label != 0 || yes.value == no.value)) {
        return if taken { yes.label } else { no.label };
    }
    if budget::must_choose(run, condition.label, [yes.label, no.label]) {
        budget::concretise(run, condition.label);
        return if taken { yes.label } else { no.label };
    }
    let value = if taken { yes.value } else { no.value } & mask(bits);
    let (b, c) = (yes.node(run, bits), no.node(run, bits));
    if b == 0 || c == 0 {
        return 0;
    }
    let node = Node { op: Op::Ite as u8, bits: bits as u8, aux: 0, a: condition.label, b, c };
    concrete_if_constant(run, nodes::make(run, node, value))
}

/// The operator of a number that instrumented code passes.
pub fn operator(number: u32) -> Op {
    Op::from_byte(number as u8).unwrap_or(Op::Add)
}

/// `a op b`; also comparisons.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_binary(op: u32, bits: u32, la: Label, lb: Label, a: u64, b: u64) -> Label {
    let run = Run::current();
    if la | lb == 0 {
        return 0;
    }
    let Some(_entered) = state::enter(run) else { return 0 };
    binary(run, operator(op), bits, Value::new(la, a), Value::new(lb, b))
}

#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_unary(op: u32, bits: u32, label: Label, value: u64) -> Label {
    let run = Run::current();
    if label == 0 {
        return 0;
    }
    let Some(_entered) = state::enter(run) else { return 0 };
    let x = Value::new(label, value);
    match operator(op) {
        Op::Not => not(run, bits, x),
        other => unary(run, other, bits, x),
    }
}

/// `ZExt`, `SExt`, or `Extract` of the low bits.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_cast(op: u32, from: u32, to: u32, label: Label, value: u64) -> Label {
    let run = Run::current();
    if label == 0 {
        return 0;
    }
    let Some(_entered) = state::enter(run) else { return 0 };
    let x = Value::new(label, value);
    match operator(op) {
        Op::ZExt => zext(run, from, to, x),
        Op::SExt => sext(run, from, to, x),
        _ => trunc(run, to, x),
    }
}

#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_select(
    bits: u32,
    lc: Label,
    ly: Label,
    ln: Label,
    condition: u64,
    yes: u64,
    no: u64,
) -> Label {
    let run = Run::current();
    if lc == 0 {
        return if condition & 1 == 1 { ly } else { ln };
    }
    let Some(_entered) = state::enter(run) else { return 0 };
    ite(run, bits, Value::new(lc, condition), Value::new(ly, yes), Value::new(ln, no))
}

/// Operators on 65 to 128 bits; the result's value comes from the program.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_binary_wide(
    op: u32,
    bits: u32,
    la: Label,
    lb: Label,
    a: u128,
    b: u128,
    result: u64,
) -> Label {
    let run = Run::current();
    if la | lb == 0 {
        return 0;
    }
    let Some(_entered) = state::enter(run) else { return 0 };
    let op = operator(op);
    let left = if la == 0 { nodes::wide_constant(run, bits, a) } else { la };
    let right = if lb == 0 { nodes::wide_constant(run, bits, b) } else { lb };
    if left == 0 || right == 0 {
        return 0;
    }
    let result_bits = if is_comparison(op) { 1 } else { bits as u8 };
    nodes::make(run, Node::binary(op, result_bits, left, right), result)
}

/// Casts from or to 65 to 128 bits; `result` is the low part of the result.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_cast_wide(op: u32, to: u32, label: Label, result: u64) -> Label {
    let run = Run::current();
    if label == 0 {
        return 0;
    }
    let Some(_entered) = state::enter(run) else { return 0 };
    match operator(op) {
        op @ (Op::ZExt | Op::SExt) => nodes::make(run, Node::unary(op, to as u8, label), result),
        _ => concrete_if_constant(run, nodes::extract(run, label, 0, to, result)),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __tg_select_wide(
    bits: u32,
    lc: Label,
    ly: Label,
    ln: Label,
    condition: u64,
    yes: u128,
    no: u128,
) -> Label {
    let run = Run::current();
    let taken = condition & 1 == 1;
    if lc == 0 {
        return if taken { ly } else { ln };
    }
    let Some(_entered) = state::enter(run) else { return 0 };
    let b = if ly == 0 { nodes::wide_constant(run, bits, yes) } else { ly };
    let c = if ln == 0 { nodes::wide_constant(run, bits, no) } else { ln };
    if b == 0 || c == 0 {
        return 0;
    }
    let node = Node { op: Op::Ite as u8, bits: bits as u8, aux: 0, a: lc, b, c };
    nodes::make(run, node, if taken { yes } else { no } as u64)
}

/// Address arithmetic: the label of `base + index * scale`, all 64 bits.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_index(lb: Label, li: Label, base: u64, index: u64, scale: u64) -> Label {
    let run = Run::current();
    if lb | li == 0 {
        return 0;
    }
    let Some(_entered) = state::enter(run) else { return 0 };
    let build = || {
        let scaled = binary(run, Op::Mul, 64, Value::new(li, index), Value::concrete(scale));
        let step = Value::new(scaled, index.wrapping_mul(scale));
        binary(run, Op::Add, 64, Value::new(lb, base), step)
    };
    match Lookup::index(run, base, li, scale) {
        Some(lookup) if lb == 0 => lookup.find_or_build(run, build),
        _ => build(),
    }
}
