//! Expressions of one byte of the input: few shapes at many places.
//!
//! Programs ask every byte of a text the same questions. Such an expression is a [`Shaped`] label, the number of a shape and the place of
//! its byte, and needs no node of its own: a second byte that goes the way of a first makes nothing new. A shape is a function of
//! 256 values, all of which are kept: so labels have their values, bits that no input changes are known, and whether what the path says about a
//! byte decides a condition is a comparison of two sets ([`domains`]). How shapes follow from others is looked up ([`answers`]).
//!
//! All of it is void after the run. Without memory for it, with a stretch, and with too many shapes, expressions are nodes, as those of several bytes
//! are. All functions need the runtime's guard.

pub mod answers;
pub mod domains;
pub mod reads;
mod vectors;

use crate::state::STATE;
use crate::{address, nodes, os, regions};
use trace::{ByteSet, Label, MOST_SHAPES, Node, Op, Places, SHAPED, Shaped};

/// What is known of a shape.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Facts {
    /// The bytes for which it is 1, if it has one bit.
    holds: ByteSet,
    /// Bits that are not the same for all bytes.
    varying: u64,
    /// Operands are numbers of shapes.
    record: Node,
    /// The shape that this one extends; itself if it extends none.
    extended: u32,
    /// How many reads from tables it is made by, one after the other.
    reads: u16,
    /// Its value is that of the byte.
    is_byte: bool,
}

const SLOTS: usize = 2 * MOST_SHAPES as usize;
const RUN_SHIFT: u32 = MOST_SHAPES.trailing_zeros();
const LAST_RUN: u32 = (1 << (32 - RUN_SHIFT)) - 1;

/// Outside of the program's memory, so that what is here stays when a process begins again: entries of former runs are known by
/// the number of their run.
struct Store {
    run: u32,
    /// How many shapes this run has.
    count: u32,
    /// By hash of the record: number of the shape, above it that of the run.
    slots: [u32; SLOTS],
    answers: answers::Answers,
    cases: domains::Cases,
    alike: domains::Alike,
    reads: reads::Reads,
    facts: [Facts; MOST_SHAPES as usize],
    /// The values of each shape for all bytes.
    vectors: [[u64; 256]; MOST_SHAPES as usize],
}

static mut STORE: *mut Store = core::ptr::null_mut();
/// The shapes of this run, in the segment.
static mut RECORDS: *mut Node = core::ptr::null_mut();
static mut INPUT: *const u8 = core::ptr::null();
/// How many bytes of the input have shapes: all or none.
static mut COUNT: u32 = 0;
static mut PLACES: Places = Places { bits: 0 };

/// Before the first run.
pub unsafe fn prepare(most_input: usize) {
    unsafe {
        if STORE.is_null() {
            STORE = os::allocate(size_of::<Store>()).cast();
            domains::prepare(most_input);
        }
    }
}

/// A run begins on this input.
pub unsafe fn start(input: *const u8, len: u32) {
    unsafe {
        let header = STATE.header;
        (*header).shape_count = 0;
        (INPUT, COUNT, PLACES) = (input, 0, Places::of(len));
        RECORDS = header.cast::<u8>().add((*header).shapes.offset as usize).cast();
        let is_room = !STORE.is_null() && regions::is_prepared() && PLACES.shapes() != 0;
        if !is_room || !domains::start(len) {
            return;
        }
        COUNT = len;
        if (*STORE).run == LAST_RUN {
            os::zero(STORE.cast(), size_of::<Store>());
            domains::forget();
            regions::forget();
        }
        regions::abandon();
        (*STORE).count = 0;
        (*STORE).run += 1;
        add(Node { op: Op::Input as u8, bits: 8, aux: 0, a: 0, b: 0, c: 0 });
    }
}

/// A run ends.
pub unsafe fn forget() {
    unsafe { COUNT = 0 };
}

/// Whether the driver is told of labels without nodes.
pub unsafe fn in_use() -> bool {
    unsafe { (*STATE.header).shape_count != 0 }
}

/// Whether there is no room for another shape in this run.
pub unsafe fn are_full() -> bool {
    unsafe { COUNT != 0 && (*STORE).count >= PLACES.shapes() }
}

/// The shape and the place that a label stands for, if it depends on one byte.
#[inline(always)]
pub unsafe fn split(label: Label) -> Option<Shaped> {
    unsafe {
        if label & SHAPED != 0 {
            return Some(PLACES.split(label));
        }
        let place = label.wrapping_sub(1);
        if place < COUNT { Some(Shaped { shape: 0, place }) } else { None }
    }
}

#[inline(always)]
pub unsafe fn join(Shaped { shape, place }: Shaped) -> Label {
    unsafe { if shape == 0 { 1 + place } else { PLACES.label(shape, place) } }
}

#[inline(always)]
unsafe fn facts(shape: u32) -> &'static mut Facts {
    unsafe { &mut *(&raw mut (*STORE).facts).cast::<Facts>().add(shape as usize) }
}

unsafe fn vector(shape: u32) -> &'static mut [u64; 256] {
    unsafe { &mut *(&raw mut (*STORE).vectors).cast::<[u64; 256]>().add(shape as usize) }
}

/// A number for a shape that no shape of another run has.
#[inline(always)]
pub unsafe fn in_this_run(shape: u32) -> u32 {
    unsafe { (*STORE).run << RUN_SHIFT | shape }
}

/// The shape that such a number stands for.
pub fn of_any_run(number: u32, place: u32) -> Shaped {
    Shaped { shape: number & (MOST_SHAPES - 1), place }
}

/// The node that a label with the bit [`SHAPED`] stands for.
pub unsafe fn node(label: Label) -> Node {
    unsafe {
        let Shaped { shape, place } = PLACES.split(label);
        let mut node = facts(shape).record;
        let arity = Op::from_byte(node.op).map_or(0, Op::arity);
        for operand in [&mut node.a, &mut node.b, &mut node.c].into_iter().take(arity) {
            *operand = join(Shaped { shape: *operand, place });
        }
        node
    }
}

/// A byte of the input that has shapes.
#[inline(always)]
pub unsafe fn input(place: u32) -> u8 {
    unsafe { *INPUT.add(place as usize) }
}

/// What a shape is if it is the same for all bytes.
#[inline(always)]
pub unsafe fn as_constant(at: Shaped) -> Option<u64> {
    unsafe {
        let record = &facts(at.shape).record;
        if record.op == Op::Const as u8 { Some(record.const_value()) } else { None }
    }
}

/// The width of a shape.
#[inline(always)]
pub unsafe fn bits(at: Shaped) -> u32 {
    unsafe { facts(at.shape).record.bits as u32 }
}

/// The value of a shape on this run.
#[inline(always)]
pub unsafe fn value(at: Shaped) -> u64 {
    unsafe {
        let byte = *INPUT.add(at.place as usize);
        // The values of all shapes do not fit into the cache.
        if facts(at.shape).is_byte { byte as u64 } else { vector(at.shape)[byte as usize] }
    }
}

/// Whether an entry of the shadow memory stands for a byte of the input that has this value.
#[inline(always)]
pub unsafe fn is_byte(entry: u32, value: u64) -> bool {
    unsafe {
        let place = entry.wrapping_sub(1);
        place < COUNT && *INPUT.add(place as usize) as u64 == value
    }
}

/// Whether an entry of the shadow memory stands for a whole value of one byte of the input, of this width and value.
#[inline(always)]
pub unsafe fn has_value(entry: u32, width: u32, value: u64) -> bool {
    unsafe {
        if entry >= SHAPED << 1 {
            return false;
        }
        split(entry).is_some_and(|at| bits(at) == width && self::value(at) == value)
    }
}

/// Bits of a shape's value that are not the same for all bytes.
pub unsafe fn varying(at: Shaped) -> u64 {
    unsafe { facts(at.shape).varying }
}

/// How many reads from tables a shape is made by, one after the other.
pub unsafe fn reads(at: Shaped) -> u16 {
    unsafe { facts(at.shape).reads }
}

/// What a shape extends at its place.
pub unsafe fn extended(at: Shaped) -> Shaped {
    unsafe { Shaped { shape: facts(at.shape).extended, ..at } }
}

/// A condition without its negations, and whether their number is odd.
pub unsafe fn without_not(at: Shaped) -> (Shaped, bool) {
    unsafe {
        let (mut shape, mut negated) = (at.shape, false);
        while facts(shape).record.op == Op::Not as u8 {
            (shape, negated) = (facts(shape).record.a, !negated);
        }
        (Shaped { shape, ..at }, negated)
    }
}

/// The label of a node that depends on one byte; `None` if it depends on several, or cannot be a shape.
#[inline(never)]
pub unsafe fn make(node: Node) -> Option<Label> {
    unsafe {
        let op = Op::from_byte(node.op).filter(|op| op.arity() > 0)?;
        let operands = [node.a, node.b, node.c];
        let mut place = None;
        for operand in operands.iter().take(op.arity()) {
            match split(*operand) {
                Some(at) if *place.get_or_insert(at.place) == at.place => {}
                Some(_) => return None,
                None => _ = nodes::as_constant(*operand)?,
            }
        }
        let (place, mut record) = (place?, node);
        if op == Op::Read && !address::is_concrete(node.b) {
            return None;
        }
        for operand in [&mut record.a, &mut record.b, &mut record.c].into_iter().take(op.arity()) {
            *operand = match split(*operand) {
                Some(at) => at.shape,
                None => constant(nodes::bits(*operand), nodes::as_constant(*operand)?)?,
            };
        }
        Some(join(Shaped { shape: find(record)?, place }))
    }
}

unsafe fn constant(bits: u32, value: u64) -> Option<u32> {
    unsafe { find(Node::constant(bits as u8, value)) }
}

/// The number of a shape, which is added if it is new; `None` if there is no room for it.
unsafe fn find(record: Node) -> Option<u32> {
    unsafe {
        let store = &mut *STORE;
        let mut slot = hash(&record) as usize % SLOTS;
        loop {
            let entry = store.slots[slot];
            if entry >> RUN_SHIFT != store.run {
                break;
            }
            let shape = entry & (MOST_SHAPES - 1);
            if facts(shape).record == record {
                return Some(shape);
            }
            slot = (slot + 1) % SLOTS;
        }
        let Some(shape) = add(record) else {
            answers::note_unshaped();
            return None;
        };
        // Not what turned out to be a constant, which has a slot: each time it is asked for it would take another one, until none is empty.
        if facts(shape).record == record {
            store.slots[slot] = store.run << RUN_SHIFT | shape;
        }
        Some(shape)
    }
}

fn hash(record: &Node) -> u32 {
    let head =
        record.op as u64 | (record.bits as u64) << 8 | (record.aux as u64) << 16 | (record.a as u64) << 32;
    let tail = record.b as u64 | (record.c as u64) << 32;
    let mixed = (head ^ tail.rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as u32
}

unsafe fn reads_of(record: &Node) -> u16 {
    let op = Op::from_byte(record.op).unwrap_or(Op::Const);
    let operands = [record.a, record.b, record.c].into_iter().take(op.arity());
    // SAFETY: operands are shapes of this run.
    operands.map(|operand| unsafe { facts(operand).reads }).max().unwrap_or(0) + u16::from(op == Op::Read)
}

/// Bits that are not the same in all values.
fn varying_of(values: &[u64; 256]) -> u64 {
    values.iter().fold(0, |varying, value| varying | (value ^ values[0]))
}

/// Adds a shape. One that is the same for all bytes is that constant.
unsafe fn add(record: Node) -> Option<u32> {
    unsafe {
        let shape = (*STORE).count;
        if shape >= PLACES.shapes() {
            return None;
        }
        let operand = |number: u32| &*(&raw const (*STORE).vectors).cast::<[u64; 256]>().add(number as usize);
        let width = |number: u32| facts(number).record.bits as u32;
        if !vectors::evaluate(&record, operand, width, vector(shape)) {
            return None;
        }
        let values = vector(shape);
        // Constants and extensions are half of all shapes, and need no look at their values.
        let (varying, is_byte) = match Op::from_byte(record.op) {
            Some(Op::Const) => (0, false),
            Some(Op::ZExt) => (facts(record.a).varying, facts(record.a).is_byte),
            _ => (varying_of(values), values.iter().zip(0..).all(|(value, byte)| *value == byte)),
        };
        if varying == 0 && record.op != Op::Const as u8 {
            return constant(record.bits as u32, values[0]);
        }
        let is_extension = record.op == Op::ZExt as u8 || record.op == Op::SExt as u8;
        let extended = if is_extension { record.a } else { shape };
        let holds =
            if record.bits == 1 { ByteSet::whose(values, |value| value & 1 == 1) } else { ByteSet::EMPTY };
        *facts(shape) = Facts { holds, varying, record, extended, reads: reads_of(&record), is_byte };
        *RECORDS.add(shape as usize) = record;
        (*STORE).count = shape + 1;
        (*STATE.header).shape_count = shape + 1;
        Some(shape)
    }
}
