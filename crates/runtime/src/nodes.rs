//! The expression table: hash-consed, append-only, in shared memory.
//!
//! Every function takes or computes the concrete value of the node that it makes, so that a label can be
//! checked against the value that the program has. All callers hold the runtime's guard.

use crate::build::Value;
use crate::shapes::answers::Question;
use crate::state::{STATE, count_give_up};
use crate::varying::Bits;
use crate::{budget, lengths, os, shapes, stretches, values};
use trace::{GiveUp, LENGTH, Label, Node, Op, SHAPED};

/// Open-addressing hash table of labels. It starts small because each page of it that a run touches costs a
/// page fault in every forked child.
#[derive(Clone, Copy)]
pub struct Cons {
    /// A label in the low [`LABEL_BITS`] bits, a part of its node's hash above: most other nodes are told from the one
    /// that is looked for without being read. 0 is empty.
    slots: *mut u32,
    /// How many slots there is memory for. Those that are not in use are empty.
    reserved: u32,
    capacity: u32,
    used: u32,
}

static mut CONS: Cons = Cons { slots: core::ptr::null_mut(), reserved: 0, capacity: 0, used: 0 };
const FIRST_CAPACITY: u32 = 4096;
/// A table up to this size is emptied for the next run of the same process.
const MOST_KEPT: u32 = FIRST_CAPACITY << 6;
const LABEL_BITS: u32 = 28;
/// How many nodes there can be at most.
pub const MOST_NODES: u64 = LENGTH as u64;

/// Prepares the table for a run: nodes of the input bytes and of the length, which comes after as
/// many as `inputs` says. False if there is no room for them.
pub unsafe fn start(input: *const u8, inputs: u32) -> bool {
    unsafe {
        let len = STATE.input_len;
        if inputs + 2 > STATE.node_cap {
            return false;
        }
        for i in 0..len {
            input_node(i, *input.add(i as usize));
        }
        *STATE.nodes.add(1 + inputs as usize) =
            Node { op: Op::Len as u8, bits: 64, aux: 0, a: 0, b: 0, c: 0 };
        *STATE.values.add(1 + inputs as usize) = len as u64;
        (*STATE.header).node_count = inputs + 2;
        true
    }
}

/// The node of an input byte, which may be one behind the input.
pub(crate) unsafe fn input_node(index: u32, value: u8) {
    unsafe {
        *STATE.nodes.add(1 + index as usize) =
            Node { op: Op::Input as u8, bits: 8, aux: 0, a: index, b: 0, c: 0 };
        *STATE.values.add(1 + index as usize) = value as u64;
    }
}

/// The label of an input byte: 0 if there is no such byte, or if it is no hole where only those are symbolic.
pub unsafe fn input_byte(index: u32) -> Label {
    unsafe {
        let symbolic =
            index < STATE.input_len && (STATE.holes.is_null() || STATE.holes.add(index as usize).read() != 0);
        if symbolic { 1 + index } else { 0 }
    }
}

/// An input byte that exists, symbolic or not.
pub unsafe fn input_value(index: u32) -> Value {
    unsafe { Value::new(input_byte(index), value(1 + index)) }
}

pub unsafe fn length() -> Label {
    unsafe { if STATE.holes.is_null() { 1 + STATE.input_len } else { 0 } }
}

#[inline(always)]
pub unsafe fn node(label: Label) -> Node {
    unsafe {
        if label & (SHAPED | LENGTH) != 0 {
            return unrecorded(label);
        }
        *STATE.nodes.add(label as usize)
    }
}

#[inline(always)]
pub unsafe fn bits(label: Label) -> u32 {
    unsafe {
        if let Some(at) = shapes::split(label) {
            return shapes::bits(at);
        }
        if label & LENGTH != 0 {
            return unrecorded(label).bits as u32;
        }
        (*STATE.nodes.add(label as usize)).bits as u32
    }
}

/// Low 64 bits of the label's value on this run.
#[inline(always)]
pub unsafe fn value(label: Label) -> u64 {
    unsafe {
        if let Some(at) = shapes::split(label) {
            return shapes::value(at);
        }
        match lengths::split(label) {
            Some(length) => lengths::value(length),
            None => *STATE.values.add(label as usize),
        }
    }
}

/// The node that a label stands for which has none.
#[inline(never)]
unsafe fn unrecorded(label: Label) -> Node {
    unsafe {
        match lengths::split(label) {
            Some(length) => lengths::node(length),
            None => shapes::node(label),
        }
    }
}

/// The value of a constant node, or `None` for other nodes.
#[inline(always)]
pub unsafe fn as_constant(label: Label) -> Option<u64> {
    unsafe {
        if let Some(at) = shapes::split(label) {
            return shapes::as_constant(at);
        }
        let node = node(label);
        if node.op == Op::Const as u8 { Some(node.const_value()) } else { None }
    }
}

/// A run ends; false if the table became so large that a new process is cheaper.
pub unsafe fn forget() -> bool {
    unsafe {
        if CONS.reserved > MOST_KEPT {
            return false;
        }
        if CONS.used != 0 {
            os::memset(CONS.slots.cast(), 0, CONS.capacity as usize * 4);
            // Small again: one large trace would otherwise make all that follow pay for it.
            (CONS.capacity, CONS.used) = (FIRST_CAPACITY.min(CONS.reserved), 0);
        }
        true
    }
}

/// The table, which outlives a process that is rewound: it may have grown since the process began.
pub unsafe fn table() -> Cons {
    unsafe { CONS }
}

pub unsafe fn use_table(table: Cons) {
    unsafe { CONS = table };
}

/// Where a node may stand in the hash table: a few slots near those of its first operand, because what a run builds next
/// mostly stands on what it built last and the cache holds it; then slots anywhere.
struct Probe {
    near: u32,
    far: u32,
    step: u32,
    /// What an entry for the node has above the label.
    tag: u32,
}

impl Probe {
    const NEAR_SLOTS: u32 = 4;
    const NEIGHBOURHOOD: u32 = 64;

    fn new([head, tail]: [u64; 2]) -> Probe {
        // Labels grow one by one, so their low bits have to reach all bits of the hash.
        let folded = (head ^ tail.rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (folded ^ folded >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let (first, far) = ((head >> 32) as u32, (mixed ^ mixed >> 32) as u32);
        let neighbour = || first.wrapping_mul(16).wrapping_add((mixed >> 32) as u32 % Probe::NEIGHBOURHOOD);
        let near = if first == 0 { far } else { neighbour() };
        Probe { near, far, step: 0, tag: folded as u32 >> LABEL_BITS << LABEL_BITS }
    }

    fn next(&mut self, capacity: u32) -> usize {
        let step = self.step;
        self.step += 1;
        let slot = if step < Probe::NEAR_SLOTS {
            self.near.wrapping_add(step)
        } else {
            // An odd stride visits every slot, and leaves the crowded neighbourhoods of others at once.
            self.far.wrapping_add(step.wrapping_mul(self.far | 1))
        };
        (slot & (capacity - 1)) as usize
    }
}

/// A node as two words. They are put together in registers: reading back what was just written in smaller pieces makes the processor wait.
#[inline(always)]
fn words(node: Node) -> [u64; 2] {
    let head = node.op as u64 | (node.bits as u64) << 8 | (node.aux as u64) << 16 | (node.a as u64) << 32;
    [head, node.b as u64 | (node.c as u64) << 32]
}

const _: () = assert!(size_of::<Node>() == size_of::<[u64; 2]>() && cfg!(target_endian = "little"));

unsafe fn words_of(label: Label) -> [u64; 2] {
    unsafe { STATE.nodes.add(label as usize).cast::<[u64; 2]>().read_unaligned() }
}

/// The label of a node, new or known. 0 if the table is full.
#[inline(always)]
pub unsafe fn make(node: Node, value: u64) -> Label {
    unsafe {
        if node.op != Op::Const as u8
            && let Some(label) = shapes::make(node)
        {
            return label;
        }
        make_of_words(words(node), value)
    }
}

#[inline(never)]
unsafe fn make_of_words(words: [u64; 2], value: u64) -> Label {
    unsafe {
        if CONS.used * 2 >= CONS.capacity && !grow() {
            return 0;
        }
        let mut probe = Probe::new(words);
        loop {
            let slot = probe.next(CONS.capacity);
            let entry = *CONS.slots.add(slot);
            if entry == 0 {
                return append(words, value, slot, probe.tag);
            }
            let label = entry ^ probe.tag;
            if label >> LABEL_BITS == 0 && words_of(label) == words {
                return label;
            }
        }
    }
}

unsafe fn append(words: [u64; 2], value: u64, slot: usize, tag: u32) -> Label {
    unsafe {
        let label = (*STATE.header).node_count;
        if label >= STATE.node_cap {
            count_give_up(GiveUp::TraceFull);
            return 0;
        }
        if label.is_multiple_of(CHUNK) {
            prepare_chunk(label);
        }
        STATE.nodes.add(label as usize).cast::<[u64; 2]>().write_unaligned(words);
        *STATE.values.add(label as usize) = value;
        (*STATE.header).node_count = label + 1;
        budget::note_nodes(label + 1);
        *CONS.slots.add(slot) = label | tag;
        CONS.used += 1;
        label
    }
}

/// Long runs get the segment's pages in pieces of this many nodes; short ones never need a second piece.
const CHUNK: u32 = 16384;

#[cold]
unsafe fn prepare_chunk(label: Label) {
    unsafe {
        let count = (STATE.node_cap - label).min(CHUNK) as usize;
        os::populate(STATE.nodes.add(label as usize).cast(), count * size_of::<Node>());
        os::populate(STATE.values.add(label as usize).cast(), count * size_of::<u64>());
    }
}

#[cold]
unsafe fn grow() -> bool {
    unsafe {
        let capacity = if CONS.capacity == 0 { FIRST_CAPACITY } else { CONS.capacity * 4 };
        let slots = empty_slots(capacity);
        if slots.is_null() {
            count_give_up(GiveUp::TraceFull);
            return false;
        }
        let end = if CONS.used == 0 { 0 } else { (*STATE.header).node_count };
        for label in end - CONS.used..end {
            let mut probe = Probe::new(words_of(label));
            let mut slot = probe.next(capacity);
            while *slots.add(slot) != 0 {
                slot = probe.next(capacity);
            }
            *slots.add(slot) = label | probe.tag;
        }
        CONS.capacity = capacity;
        true
    }
}

/// Memory for a larger table, in place of the present one, whose nodes have to be put in again; null if there is none.
unsafe fn empty_slots(capacity: u32) -> *mut u32 {
    unsafe {
        if capacity <= CONS.reserved {
            os::memset(CONS.slots.cast(), 0, CONS.capacity as usize * 4);
            return CONS.slots;
        }
        let slots = os::allocate_populated(capacity as usize * 4).cast::<u32>();
        if !slots.is_null() {
            if CONS.reserved != 0 {
                os::release(CONS.slots.cast(), CONS.reserved as usize * 4);
            }
            (CONS.slots, CONS.reserved) = (slots, capacity);
        }
        slots
    }
}

/// Reserves the first hash table before the fork server starts, so that runs share its pages.
pub unsafe fn prepare() {
    unsafe { grow() };
}

pub unsafe fn constant(bits: u32, value: u64) -> Label {
    unsafe { make(Node::constant(bits as u8, value & values::mask(bits)), value & values::mask(bits)) }
}

/// A constant of up to 128 bits.
pub unsafe fn wide_constant(bits: u32, value: u128) -> Label {
    unsafe {
        if bits <= 64 || value >> 64 == 0 {
            let node = Node::constant(bits as u8, value as u64 & values::mask(bits));
            return make(node, value as u64 & values::mask(bits));
        }
        let high = constant(bits - 64, (value >> 64) as u64);
        let low = constant(64, value as u64);
        concat(high, low, bits, value as u64)
    }
}

/// `label[low .. low + bits]`, whose value is `value`.
pub unsafe fn extract(label: Label, low: u32, bits: u32, value: u64) -> Label {
    unsafe {
        match Question::extract(label, low, bits) {
            Some(question) => question.answer(|| extracted(label, low, bits, value)),
            None => extracted(label, low, bits, value),
        }
    }
}

unsafe fn extracted(label: Label, low: u32, bits: u32, value: u64) -> Label {
    unsafe {
        let of = node(label);
        if low == 0 && bits == of.bits as u32 {
            return label;
        }
        match Op::from_byte(of.op) {
            // (concat a b)[l..] is within one side
            Some(Op::Concat) => {
                let low_bits = self::bits(of.b);
                if low + bits <= low_bits {
                    return extract(of.b, low, bits, value);
                }
                if low >= low_bits {
                    return extract(of.a, low - low_bits, bits, value);
                }
            }
            // (zext a)[l..] is within a, or 0
            Some(Op::ZExt) => {
                let inner = self::bits(of.a);
                if low + bits <= inner {
                    return extract(of.a, low, bits, value);
                }
                if low >= inner {
                    return constant(bits, 0);
                }
                if low == 0 {
                    return make(Node { a: of.a, bits: bits as u8, ..of }, value);
                }
            }
            // (sext a)[l..] is within a
            Some(Op::SExt) => {
                let inner = self::bits(of.a);
                if low + bits <= inner {
                    return extract(of.a, low, bits, value);
                }
            }
            Some(Op::Extract) => return extract(of.a, of.aux as u32 + low, bits, value),
            Some(Op::Const) if of.bits <= 64 => return constant(bits, of.const_value() >> low),
            _ => {}
        }
        let is_looked_into = of.bits <= 64 && !stretches::any();
        if is_looked_into && Bits::of(label).shift_right(low as u64).low(bits).is_known() {
            return constant(bits, value);
        }
        let node = Node { op: Op::Extract as u8, bits: bits as u8, aux: low as u16, a: label, b: 0, c: 0 };
        make(node, value)
    }
}

/// `high ++ low` of `bits` bits in all, whose value is `value`.
pub unsafe fn concat(high: Label, low: Label, bits: u32, value: u64) -> Label {
    unsafe {
        if high == 0 || low == 0 {
            return 0;
        }
        let (h, l) = (node(high), node(low));
        let (h_bits, l_bits) = (h.bits as u32, l.bits as u32);
        // 0 ++ x = zext x
        if h.op == Op::Const as u8 && h.const_value() == 0 {
            if l.op == Op::ZExt as u8 {
                return make(Node { bits: bits as u8, ..l }, value);
            }
            return make(Node::unary(Op::ZExt, bits as u8, low), value);
        }
        // c ++ d = constant, unless they are bytes of the stretch, which are to be known again
        let are_constant = h.op == Op::Const as u8 && l.op == Op::Const as u8;
        if are_constant && bits <= 64 && !stretches::is_filler(high) && !stretches::is_filler(low) {
            return constant(bits, value);
        }
        // x[m..n] ++ x[l..m] = x[l..n]
        if h.op == Op::Extract as u8 && h_bits + l_bits == bits {
            let (start, end) = (l.aux as u32, h.aux as u32);
            if l.op == Op::Extract as u8 && l.a == h.a && start + l_bits == end {
                return extract(h.a, start, bits, value);
            }
        }
        make(Node::binary(Op::Concat, bits as u8, high, low), value)
    }
}
