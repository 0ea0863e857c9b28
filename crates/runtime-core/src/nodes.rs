//! The expression table: hash-consed, append-only, in shared memory.
//!
//! Every function takes or computes the concrete value of the node that it makes, so that a label
//! can be checked against the value that the program has. All callers hold the runtime's guard.

use crate::build::Value;
use crate::cons::Vacancy;
use crate::shapes::memo::Lookup;
use crate::state::Run;
use crate::varying::Bits;
use crate::{lengths, repetitions, shapes, values};
use trace::{GiveUp, LENGTH, Label, Node, Op, SHAPED};

/// How many nodes there can be at most.
pub const MAX_NODES: u64 = LENGTH as u64;

/// Prepares the table for a run: nodes of the input bytes and of the length, which comes after as
/// many as `inputs` says. False if there is no room for them.
pub fn start(run: &Run, inputs: u32) -> bool {
    let (segment, len) = (&run.segment, run.segment.input_len());
    if inputs + 2 > segment.node_cap() {
        return false;
    }
    for i in 0..len {
        input_node(run, i, segment.input_byte(i));
    }
    segment.set_node(
        1 + inputs,
        Node { op: Op::Len as u8, bits: 64, aux: 0, a: 0, b: 0, c: 0 },
        len.into(),
    );
    segment.set_node_count(inputs + 2);
    true
}

/// The node of an input byte, which may be one after the input.
pub(crate) fn input_node(run: &Run, index: u32, value: u8) {
    let node = Node { op: Op::Input as u8, bits: 8, aux: 0, a: index, b: 0, c: 0 };
    run.segment.set_node(1 + index, node, value.into());
}

/// The label of an input byte: 0 if there is no such byte, or if it is no hole where only those are
/// symbolic.
pub fn input_byte(run: &Run, index: u32) -> Label {
    let symbolic = index < run.segment.input_len()
        && (!run.segment.has_holes() || run.segment.mark(index) != 0);
    if symbolic { 1 + index } else { 0 }
}

/// An input byte that exists, symbolic or not.
pub fn input_value(run: &Run, index: u32) -> Value {
    Value::new(input_byte(run, index), value(run, 1 + index))
}

pub fn length(run: &Run) -> Label {
    if run.segment.has_holes() { 0 } else { 1 + run.segment.input_len() }
}

#[inline(always)]
pub fn node(run: &Run, label: Label) -> Node {
    if label & (SHAPED | LENGTH) != 0 {
        return unrecorded(run, label);
    }
    run.segment.node(label)
}

#[inline(always)]
pub fn bits(run: &Run, label: Label) -> u32 {
    if let Some(at) = shapes::split(run, label) {
        return shapes::bits(run, at);
    }
    if label & LENGTH != 0 {
        return unrecorded(run, label).bits as u32;
    }
    run.segment.node(label).bits as u32
}

/// Low 64 bits of the label's value on this run.
#[inline(always)]
pub fn value(run: &Run, label: Label) -> u64 {
    if let Some(at) = shapes::split(run, label) {
        return shapes::value(run, at);
    }
    match lengths::split(label) {
        Some(length) => lengths::value(run, length),
        None => run.segment.value(label),
    }
}

/// The node that a label stands for which has none.
#[inline(never)]
fn unrecorded(run: &Run, label: Label) -> Node {
    match lengths::split(label) {
        Some(length) => lengths::node(run, length),
        None => shapes::node(run, label),
    }
}

/// The value of a constant node, or `None` for other nodes.
#[inline(always)]
pub fn as_constant(run: &Run, label: Label) -> Option<u64> {
    if let Some(at) = shapes::split(run, label) {
        return shapes::as_constant(run, at);
    }
    let node = node(run, label);
    if node.op == Op::Const as u8 { Some(node.const_value()) } else { None }
}

/// A node as two words. They are put together in registers: reading back what was just written in
/// smaller pieces makes the processor wait.
#[inline(always)]
fn words(node: Node) -> [u64; 2] {
    let head =
        node.op as u64 | (node.bits as u64) << 8 | (node.aux as u64) << 16 | (node.a as u64) << 32;
    [head, node.b as u64 | (node.c as u64) << 32]
}

const _: () = assert!(size_of::<Node>() == size_of::<[u64; 2]>() && cfg!(target_endian = "little"));

/// The label of a node, new or known. 0 if the table is full.
#[inline(always)]
pub fn make(run: &Run, node: Node, value: u64) -> Label {
    if node.op != Op::Const as u8
        && let Some(label) = shapes::make(run, node)
    {
        return label;
    }
    make_of_words(run, words(node), value)
}

#[inline(never)]
fn make_of_words(run: &Run, words: [u64; 2], value: u64) -> Label {
    match run.nodes.find(&run.segment, words) {
        Some(Ok(label)) => label,
        Some(Err(vacancy)) => append(run, words, value, vacancy),
        None => 0,
    }
}

fn append(run: &Run, words: [u64; 2], value: u64, vacancy: Vacancy) -> Label {
    let label = run.segment.node_count();
    if label >= run.segment.node_cap() {
        run.segment.count_give_up(GiveUp::TraceFull);
        return 0;
    }
    if label.is_multiple_of(CHUNK) {
        prepare_chunk(run, label);
    }
    run.segment.set_words(label, words, value);
    run.segment.set_node_count(label + 1);
    run.budget.note_nodes(label + 1);
    run.nodes.fill(vacancy, label);
    label
}

/// Long runs get the segment's pages in pieces of this many nodes; short ones never need a second
/// piece.
const CHUNK: u32 = 16384;

#[cold]
fn prepare_chunk(run: &Run, label: Label) {
    let count = (run.segment.node_cap() - label).min(CHUNK) as usize;
    run.segment.populate_nodes(label, count);
}

pub fn constant(run: &Run, bits: u32, value: u64) -> Label {
    make(run, Node::constant(bits as u8, value & values::mask(bits)), value & values::mask(bits))
}

/// A constant of up to 128 bits.
pub fn wide_constant(run: &Run, bits: u32, value: u128) -> Label {
    if bits <= 64 || value >> 64 == 0 {
        let node = Node::constant(bits as u8, value as u64 & values::mask(bits));
        return make(run, node, value as u64 & values::mask(bits));
    }
    let high = constant(run, bits - 64, (value >> 64) as u64);
    let low = constant(run, 64, value as u64);
    concat(run, high, low, bits, value as u64)
}

/// `label[low .. low + bits]`, whose value is `value`.
pub fn extract(run: &Run, label: Label, low: u32, bits: u32, value: u64) -> Label {
    match Lookup::extract(run, label, low, bits) {
        Some(lookup) => lookup.find_or_build(run, || extracted(run, label, low, bits, value)),
        None => extracted(run, label, low, bits, value),
    }
}

fn extracted(run: &Run, label: Label, low: u32, bits: u32, value: u64) -> Label {
    let of = node(run, label);
    if low == 0 && bits == of.bits as u32 {
        return label;
    }
    match Op::from_byte(of.op) {
        // (concat a b)[l..] is within one side
        Some(Op::Concat) => {
            let low_bits = self::bits(run, of.b);
            if low + bits <= low_bits {
                return extract(run, of.b, low, bits, value);
            }
            if low >= low_bits {
                return extract(run, of.a, low - low_bits, bits, value);
            }
        }
        // (zext a)[l..] is within a, or 0
        Some(Op::ZExt) => {
            let inner = self::bits(run, of.a);
            if low + bits <= inner {
                return extract(run, of.a, low, bits, value);
            }
            if low >= inner {
                return constant(run, bits, 0);
            }
            if low == 0 {
                return make(run, Node { a: of.a, bits: bits as u8, ..of }, value);
            }
        }
        // (sext a)[l..] is within a
        Some(Op::SExt) => {
            let inner = self::bits(run, of.a);
            if low + bits <= inner {
                return extract(run, of.a, low, bits, value);
            }
        }
        Some(Op::Extract) => return extract(run, of.a, of.aux as u32 + low, bits, value),
        Some(Op::Const) if of.bits <= 64 => return constant(run, bits, of.const_value() >> low),
        _ => {}
    }
    let is_looked_into = of.bits <= 64 && !repetitions::any(run);
    if is_looked_into && Bits::of(run, label).shift_right(low as u64).low(bits).is_known() {
        return constant(run, bits, value);
    }
    let node =
        Node { op: Op::Extract as u8, bits: bits as u8, aux: low as u16, a: label, b: 0, c: 0 };
    make(run, node, value)
}

/// `high ++ low` of `bits` bits in all, whose value is `value`.
pub fn concat(run: &Run, high: Label, low: Label, bits: u32, value: u64) -> Label {
    if high == 0 || low == 0 {
        return 0;
    }
    let (h, l) = (node(run, high), node(run, low));
    let (h_bits, l_bits) = (h.bits as u32, l.bits as u32);
    // 0 ++ x = zext x
    if h.op == Op::Const as u8 && h.const_value() == 0 {
        if l.op == Op::ZExt as u8 {
            return make(run, Node { bits: bits as u8, ..l }, value);
        }
        return make(run, Node::unary(Op::ZExt, bits as u8, low), value);
    }
    // c ++ d = constant, unless they are bytes of the repetition, which are to be known again
    let are_constant = h.op == Op::Const as u8 && l.op == Op::Const as u8;
    if are_constant
        && bits <= 64
        && !repetitions::is_filler(run, high)
        && !repetitions::is_filler(run, low)
    {
        return constant(run, bits, value);
    }
    // x[m..n] ++ x[l..m] = x[l..n]
    if h.op == Op::Extract as u8 && h_bits + l_bits == bits {
        let (start, end) = (l.aux as u32, h.aux as u32);
        if l.op == Op::Extract as u8 && l.a == h.a && start + l_bits == end {
            return extract(run, h.a, start, bits, value);
        }
    }
    make(run, Node::binary(Op::Concat, bits as u8, high, low), value)
}
