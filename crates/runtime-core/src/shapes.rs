//! Byte functions: expressions of one byte of the input, few *shapes* at many places.
//!
//! Programs ask every byte of a text the same questions. Such an expression is a [`Shaped`] label,
//! the number of a shape and the place of its byte, and needs no node of its own: a second byte
//! that goes the way of a first makes nothing new. A shape is a function of 256 values, all of
//! which are kept: so labels have their values, bits that no input changes are known, and whether
//! what the path says about a byte decides a condition is a comparison of two sets
//! ([`crate::facts::domains`]). How shapes follow from others is looked up ([`memo`]).
//!
//! All of it is void after the run. Without memory for it, with a repetition, and with too many
//! shapes, expressions are nodes, as those of several bytes are. All functions need the runtime's
//! guard.

pub mod memo;
pub mod reads;
mod sets;
mod vectors;

pub use sets::{Switched, bytes_alike, case_of, switched};

use crate::state::Run;
use crate::{address, nodes, os, regions};
use core::cell::Cell;
use core::ptr::null_mut;
use trace::{ByteSet, GiveUp, Label, MAX_SHAPES, Node, Op, Places, SHAPED, Shaped};

pub struct Shapes {
    /// Outside of the program's memory.
    store: Cell<*mut Store>,
    /// How many bytes of the input have shapes: all or none.
    count: Cell<u32>,
    places: Cell<Places>,
    pub(crate) building: memo::Building,
}

/// What is known of a shape.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Function {
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

const SLOTS: usize = 2 * MAX_SHAPES as usize;
const RUN_SHIFT: u32 = MAX_SHAPES.trailing_zeros();
const LAST_RUN: u32 = (1 << (32 - RUN_SHIFT)) - 1;

/// What stays when a process begins again: entries of former runs are known by the number of their
/// run. All zeros is an empty store.
struct Store {
    run: Cell<u32>,
    /// How many shapes this run has.
    count: Cell<u32>,
    /// By hash of the record: number of the shape, above it that of the run.
    slots: [Cell<u32>; SLOTS],
    lookups: memo::Table,
    switches: sets::Switches,
    alike: sets::Alike,
    reads: reads::Reads,
    functions: [Cell<Function>; MAX_SHAPES as usize],
    /// The values of each shape for all bytes.
    vectors: [Cell<[u64; 256]>; MAX_SHAPES as usize],
}

impl Shapes {
    pub const NEW: Shapes = Shapes {
        store: Cell::new(null_mut()),
        count: Cell::new(0),
        places: Cell::new(Places { bits: 0 }),
        building: memo::Building::NEW,
    };

    /// A run ends.
    pub fn reset(&self) {
        self.count.set(0);
    }

    /// The number of this run among those that share the store.
    #[inline(always)]
    pub fn number(&self) -> u32 {
        self.store().run.get()
    }

    #[inline(always)]
    pub fn places(&self) -> Places {
        self.places.get()
    }

    #[inline(always)]
    fn store(&self) -> &'static Store {
        // SAFETY: shapes exist only in runs that found the store, which is never given back.
        unsafe { &*self.store.get() }
    }

    #[inline(always)]
    fn function(&self, shape: u32) -> &'static Function {
        let functions = self.store().functions.as_ptr();
        // SAFETY: shapes are below their number, and a function does not change once it is made.
        unsafe { &*functions.add(shape as usize).cast() }
    }

    #[inline(always)]
    fn vector(&self, shape: u32) -> &'static [u64; 256] {
        let vectors = self.store().vectors.as_ptr();
        // SAFETY: as above.
        unsafe { &*vectors.add(shape as usize).cast() }
    }
}

/// Before the first run.
pub fn prepare(run: &Run, max_input: usize) {
    if run.shapes.store.get().is_null() {
        run.shapes.store.set(os::allocate(size_of::<Store>()).cast());
        run.facts.domains.prepare(max_input);
    }
}

/// A run begins on the segment's input, of which this many bytes have shapes.
pub fn start(run: &Run, len: u32) {
    let (shapes, places) = (&run.shapes, Places::of(len));
    run.segment.set_shape_count(0);
    shapes.count.set(0);
    shapes.places.set(places);
    let is_room =
        !shapes.store.get().is_null() && run.regions.is_prepared() && places.shapes() != 0;
    if !is_room || !run.facts.domains.start(len) {
        return;
    }
    shapes.count.set(len);
    if shapes.number() == LAST_RUN {
        // SAFETY: the store was allocated with this size, and no reference to it is alive.
        unsafe { os::zero(shapes.store.get().cast(), size_of::<Store>()) };
        run.facts.domains.reset_marks();
        run.regions.reset();
    }
    regions::abandon(run);
    shapes.store().count.set(0);
    shapes.store().run.update(|number| number + 1);
    add(run, Node { op: Op::Input as u8, bits: 8, aux: 0, a: 0, b: 0, c: 0 });
}

/// Takes over the shapes that another process of this run has made: they are computed again.
pub fn adopt(run: &Run) {
    if run.shapes.count.get() == 0 {
        return;
    }
    for number in run.shapes.store().count.get()..run.segment.shape_count() {
        if find(run, run.segment.shape(number)) != Some(number) {
            return run.segment.count_give_up(GiveUp::TraceFull);
        }
    }
}

/// Whether the driver is told of labels without nodes.
pub fn in_use(run: &Run) -> bool {
    run.segment.shape_count() != 0
}

/// Whether there is no room for another shape in this run.
pub fn are_full(run: &Run) -> bool {
    run.shapes.count.get() != 0 && run.shapes.store().count.get() >= run.shapes.places().shapes()
}

/// The shape of a byte of the input itself.
pub const BYTE: u32 = 0;

/// The shape and the place that a label stands for, if it depends on one byte.
#[inline(always)]
pub fn split(run: &Run, label: Label) -> Option<Shaped> {
    if label & SHAPED != 0 {
        return Some(run.shapes.places().split(label));
    }
    let place = label.wrapping_sub(1);
    if place < run.shapes.count.get() { Some(Shaped { shape: BYTE, place }) } else { None }
}

#[inline(always)]
pub fn join(run: &Run, Shaped { shape, place }: Shaped) -> Label {
    if shape == BYTE { 1 + place } else { run.shapes.places().label(shape, place) }
}

/// A number for a shape that no shape of another run has.
#[inline(always)]
pub fn in_this_run(run: &Run, shape: u32) -> u32 {
    run.shapes.number() << RUN_SHIFT | shape
}

/// The shape that such a number stands for.
pub fn of_any_run(number: u32, place: u32) -> Shaped {
    Shaped { shape: number & (MAX_SHAPES - 1), place }
}

/// The node that a label with the bit [`SHAPED`] stands for.
pub fn node(run: &Run, label: Label) -> Node {
    let Shaped { shape, place } = run.shapes.places().split(label);
    let mut node = record(run, shape);
    let arity = Op::from_byte(node.op).map_or(0, Op::arity);
    for operand in [&mut node.a, &mut node.b, &mut node.c].into_iter().take(arity) {
        *operand = join(run, Shaped { shape: *operand, place });
    }
    node
}

/// The node of a shape, whose operands are shapes.
#[inline(always)]
pub fn record(run: &Run, shape: u32) -> Node {
    run.shapes.function(shape).record
}

/// The bytes for which a condition holds.
#[inline(always)]
pub fn holds(run: &Run, shape: u32) -> &'static ByteSet {
    &run.shapes.function(shape).holds
}

/// Whether a shape is the same for all bytes.
#[inline(always)]
pub fn is_constant(run: &Run, shape: u32) -> bool {
    run.shapes.function(shape).varying == 0
}

/// A byte of the input that has shapes.
#[inline(always)]
pub fn input(run: &Run, place: u32) -> u8 {
    run.segment.input_byte(place)
}

/// What a shape is if it is the same for all bytes.
#[inline(always)]
pub fn as_constant(run: &Run, at: Shaped) -> Option<u64> {
    let record = record(run, at.shape);
    if record.op == Op::Const as u8 { Some(record.const_value()) } else { None }
}

/// The width of a shape.
#[inline(always)]
pub fn bits(run: &Run, at: Shaped) -> u32 {
    run.shapes.function(at.shape).record.bits as u32
}

/// The value of a shape on this run.
#[inline(always)]
pub fn value(run: &Run, at: Shaped) -> u64 {
    let byte = input(run, at.place);
    // The values of all shapes do not fit into the cache.
    match run.shapes.function(at.shape).is_byte {
        true => byte as u64,
        false => run.shapes.vector(at.shape)[byte as usize],
    }
}

/// The values of a shape for all bytes.
pub fn values(run: &Run, shape: u32) -> &'static [u64; 256] {
    run.shapes.vector(shape)
}

/// Whether an entry of the shadow memory stands for a byte of the input that has this value.
#[inline(always)]
pub fn is_byte(run: &Run, entry: u32, value: u64) -> bool {
    let place = entry.wrapping_sub(1);
    place < run.shapes.count.get() && input(run, place) as u64 == value
}

/// Whether an entry of the shadow memory stands for a whole value of one byte of the input, of this
/// width and value.
#[inline(always)]
pub fn has_value(run: &Run, entry: u32, width: u32, value: u64) -> bool {
    if entry >= SHAPED << 1 {
        return false;
    }
    split(run, entry).is_some_and(|at| bits(run, at) == width && self::value(run, at) == value)
}

/// Bits of a shape's value that are not the same for all bytes.
pub fn varying(run: &Run, at: Shaped) -> u64 {
    run.shapes.function(at.shape).varying
}

/// How many reads from tables a shape is made by, one after the other.
pub fn reads(run: &Run, at: Shaped) -> u16 {
    run.shapes.function(at.shape).reads
}

/// What a shape extends at its place.
#[inline(always)]
pub fn extended(run: &Run, at: Shaped) -> Shaped {
    Shaped { shape: run.shapes.function(at.shape).extended, ..at }
}

/// A condition without its negations, and whether their number is odd.
pub fn without_not(run: &Run, at: Shaped) -> (Shaped, bool) {
    let (mut shape, mut negated) = (at.shape, false);
    while record(run, shape).op == Op::Not as u8 {
        (shape, negated) = (record(run, shape).a, !negated);
    }
    (Shaped { shape, ..at }, negated)
}

/// The label of a node that depends on one byte; `None` if it depends on several, or cannot be a
/// shape.
#[inline(never)]
pub fn make(run: &Run, node: Node) -> Option<Label> {
    let op = Op::from_byte(node.op).filter(|op| op.arity() > 0)?;
    let operands = [node.a, node.b, node.c];
    let mut place = None;
    for operand in operands.iter().take(op.arity()) {
        match split(run, *operand) {
            Some(at) if *place.get_or_insert(at.place) == at.place => {}
            Some(_) => return None,
            None => _ = nodes::as_constant(run, *operand)?,
        }
    }
    let (place, mut record) = (place?, node);
    if op == Op::Read && !address::is_concrete(run, node.b) {
        return None;
    }
    for operand in [&mut record.a, &mut record.b, &mut record.c].into_iter().take(op.arity()) {
        *operand = match split(run, *operand) {
            Some(at) => at.shape,
            None => constant(run, nodes::bits(run, *operand), nodes::as_constant(run, *operand)?)?,
        };
    }
    Some(join(run, Shaped { shape: find(run, record)?, place }))
}

fn constant(run: &Run, bits: u32, value: u64) -> Option<u32> {
    find(run, Node::constant(bits as u8, value))
}

/// The number of a shape, which is added if it is new; `None` if there is no room for it.
fn find(run: &Run, record: Node) -> Option<u32> {
    let store = run.shapes.store();
    let mut slot = hash(&record) as usize % SLOTS;
    loop {
        let entry = store.slots[slot].get();
        if entry >> RUN_SHIFT != store.run.get() {
            break;
        }
        let shape = entry & (MAX_SHAPES - 1);
        if run.shapes.function(shape).record == record {
            return Some(shape);
        }
        slot = (slot + 1) % SLOTS;
    }
    let Some(shape) = add(run, record) else {
        run.shapes.building.note_unshaped();
        return None;
    };
    // Not what turned out to be a constant, which has a slot: each time it is asked for it would
    // take another one, until none is empty.
    if run.shapes.function(shape).record == record {
        store.slots[slot].set(store.run.get() << RUN_SHIFT | shape);
    }
    Some(shape)
}

fn hash(record: &Node) -> u32 {
    let head = record.op as u64
        | (record.bits as u64) << 8
        | (record.aux as u64) << 16
        | (record.a as u64) << 32;
    let tail = record.b as u64 | (record.c as u64) << 32;
    let mixed = (head ^ tail.rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as u32
}

fn reads_of(run: &Run, record: &Node) -> u16 {
    let op = Op::from_byte(record.op).unwrap_or(Op::Const);
    let operands = [record.a, record.b, record.c].into_iter().take(op.arity());
    let reads = operands.map(|operand| run.shapes.function(operand).reads).max().unwrap_or(0);
    reads + u16::from(op == Op::Read)
}

/// Bits that are not the same in all values.
fn varying_of(values: &[u64; 256]) -> u64 {
    values.iter().fold(0, |varying, value| varying | (value ^ values[0]))
}

/// Adds a shape. One that is the same for all bytes is that constant.
fn add(run: &Run, record: Node) -> Option<u32> {
    let store = run.shapes.store();
    let shape = store.count.get();
    if shape >= run.shapes.places().shapes() {
        return None;
    }
    let mut values = [0; 256];
    if !vectors::evaluate(run, &record, &mut values) {
        return None;
    }
    // Constants and extensions are half of all shapes, and need no look at their values.
    let of_first = || run.shapes.function(record.a);
    let (varying, is_byte) = match Op::from_byte(record.op) {
        Some(Op::Const) => (0, false),
        Some(Op::ZExt) => (of_first().varying, of_first().is_byte),
        _ => (varying_of(&values), values.iter().zip(0..).all(|(value, byte)| *value == byte)),
    };
    if varying == 0 && record.op != Op::Const as u8 {
        return constant(run, record.bits as u32, values[0]);
    }
    let is_extension = record.op == Op::ZExt as u8 || record.op == Op::SExt as u8;
    let extended = if is_extension { record.a } else { shape };
    let is_condition = record.bits == 1;
    let holds = match is_condition {
        true => ByteSet::whose(&values, |value| value & 1 == 1),
        false => ByteSet::EMPTY,
    };
    let function =
        Function { holds, varying, record, extended, reads: reads_of(run, &record), is_byte };
    store.functions[shape as usize % MAX_SHAPES as usize].set(function);
    store.vectors[shape as usize % MAX_SHAPES as usize].set(values);
    store.count.set(shape + 1);
    run.segment.set_shape(shape, record);
    run.segment.set_shape_count(shape + 1);
    Some(shape)
}
