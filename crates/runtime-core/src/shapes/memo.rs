//! Which shape an operator makes of others: looked up by those, not built again for each byte of a
//! text.

use super::{Shapes, join, split};
use crate::build::Value;
use crate::facts::domains;
use crate::state::Run;
use crate::values::mask;
use core::cell::Cell;
use trace::{Label, Op, Shaped};

/// What has been looked up, in a table without chains: what is looked up again is mostly looked up
/// soon.
pub struct Table([Cell<Entry>; Table::COUNT]);

#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    constant: u64,
    /// One more than a shape, or 0 if the result is the same for all bytes.
    shape: u32,
    is_condition: bool,
}

impl Table {
    const COUNT: usize = 2048;
}

/// Whether something is being built in order to be remembered for all places.
pub struct Building {
    /// It is: what is built must not depend on what the path says about the place that asked first.
    is_on: Cell<bool>,
    /// Something that was being built is no shape, so that it depends on the place and its path,
    /// and is nothing to remember for others.
    unshaped: Cell<bool>,
}

impl Building {
    pub const NEW: Building = Building { is_on: Cell::new(false), unshaped: Cell::new(false) };

    pub fn start(&self) {
        self.is_on.set(true);
        self.unshaped.set(false);
    }

    pub fn stop(&self) {
        self.is_on.set(false);
    }

    pub fn note_unshaped(&self) {
        self.unshaped.set(true);
    }

    /// Whether what was built since [`Building::start`] holds for all places.
    pub fn is_for_all_places(&self) -> bool {
        !self.unshaped.get()
    }
}

/// An operator on shapes at one place, at most one of the operands being a constant.
#[derive(Clone, Copy)]
pub struct Lookup {
    key: u64,
    constant: u64,
    place: u32,
}

const OP_BITS: u32 = 6;
/// Beside an operator: whether it overflows.
const OVERFLOW: u64 = 1 << 63;
/// In place of an operator: an address in an array.
const INDEX: u64 = (1 << OP_BITS) - 1;
const WIDTH_BITS: u32 = 7;
const SHAPE_BITS: u32 = 12;

const _: () = assert!(Op::ALL.len() <= INDEX as usize && trace::MAX_SHAPES == 1 << SHAPE_BITS);

impl Lookup {
    /// `None` if there is nothing to look up: operands without a byte, or of several, or fixed by
    /// the path.
    #[inline(always)]
    pub fn binary(run: &Run, op: Op, bits: u32, a: Value, b: Value) -> Option<Lookup> {
        const CONSTANT_FIRST: u64 = 1;
        const CONSTANT_LAST: u64 = 2;
        if bits > 64 {
            return None;
        }
        if b.label == 0 {
            let at = split(run, a.label).filter(|at| !is_fixed(run, *at))?;
            return Some(Lookup::new(
                run,
                op,
                bits,
                at,
                CONSTANT_LAST << SHAPE_BITS,
                b.value & mask(bits),
            ));
        }
        let second = split(run, b.label).filter(|at| !is_fixed(run, *at))?;
        if a.label == 0 {
            return Some(Lookup::new(
                run,
                op,
                bits,
                second,
                CONSTANT_FIRST << SHAPE_BITS,
                a.value & mask(bits),
            ));
        }
        let first =
            split(run, a.label).filter(|at| at.place == second.place && !is_fixed(run, *at))?;
        Some(Lookup::new(run, op, bits, first, second.shape as u64, 0))
    }

    /// `to` is the width of the result.
    #[inline(always)]
    pub fn unary(run: &Run, op: Op, from: u32, to: u32, x: Label) -> Option<Lookup> {
        let at = split(run, x).filter(|at| from <= 64 && to <= 64 && !is_fixed(run, *at))?;
        Some(Lookup::new(run, op, from, at, 3 << SHAPE_BITS | to as u64, 0))
    }

    /// Bits from `low` on, `to` of them.
    #[inline(always)]
    pub fn extract(run: &Run, x: Label, low: u32, to: u32) -> Option<Lookup> {
        let at = split(run, x).filter(|at| to <= 64 && !is_fixed(run, *at))?;
        Some(Lookup::new(run, Op::Extract, to, at, 3 << SHAPE_BITS, 1 + low as u64))
    }

    /// `base + index * scale`, of 64 bits.
    #[inline(always)]
    pub fn index(run: &Run, base: u64, index: Label, scale: u64) -> Option<Lookup> {
        let at = split(run, index).filter(|at| scale < 1 << SHAPE_BITS && !is_fixed(run, *at))?;
        Some(Lookup::numbered(run, INDEX, 64, at, scale, base))
    }

    /// The condition that `a op b` overflows, `op` being a sum, difference or product of `bits`
    /// bits with a sign.
    #[inline(always)]
    pub fn overflow(run: &Run, op: Op, bits: u32, a: Value, b: Value) -> Option<Lookup> {
        let mut lookup = Lookup::binary(run, op, bits, a, b)?;
        lookup.key |= OVERFLOW;
        Some(lookup)
    }

    #[inline(always)]
    fn new(run: &Run, op: Op, bits: u32, at: Shaped, more: u64, constant: u64) -> Lookup {
        Lookup::numbered(run, op as u64, bits, at, more, constant)
    }

    #[inline(always)]
    fn numbered(run: &Run, op: u64, bits: u32, at: Shaped, more: u64, constant: u64) -> Lookup {
        let number = run.shapes.number() as u64;
        let operands = (number << (SHAPE_BITS + 2) | more) << SHAPE_BITS | at.shape as u64;
        let key = operands << (OP_BITS + WIDTH_BITS) | op << WIDTH_BITS | bits as u64;
        Lookup { key, constant, place: at.place }
    }

    /// The label that was found before, or else the one that `build` makes.
    #[inline(always)]
    pub fn find_or_build(self, run: &Run, build: impl FnOnce() -> Label) -> Label {
        let slot = self.slot(&run.shapes);
        let mut entry = slot.get();
        if (entry.key, entry.constant) != (self.key, self.constant) {
            let (label, is_for_all) = built(run, build);
            let shape = match split(run, label) {
                _ if !is_for_all => return label,
                Some(at) => 1 + at.shape,
                None if label == 0 => 0,
                None => return label,
            };
            let is_condition = shape != 0 && super::record(run, shape - 1).bits == 1;
            entry = Entry { key: self.key, constant: self.constant, shape, is_condition };
            slot.set(entry);
        }
        if entry.shape == 0 {
            return 0;
        }
        let at = Shaped { shape: entry.shape - 1, place: self.place };
        let is_open = run.shapes.building.is_on.get() || !entry.is_condition;
        if is_open || !domains::decides(run, at) { join(run, at) } else { 0 }
    }

    #[inline(always)]
    fn slot(self, shapes: &Shapes) -> &'static Cell<Entry> {
        let mixed = (self.key ^ self.constant.rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        &shapes.store().lookups.0[(mixed >> 48) as usize % Table::COUNT]
    }
}

/// A label, and whether it is the same for all places.
#[inline(never)]
fn built(run: &Run, build: impl FnOnce() -> Label) -> (Label, bool) {
    let building = &run.shapes.building;
    let (outer, unshaped) = (building.is_on.replace(true), building.unshaped.replace(false));
    let label = build();
    let is_for_all = building.is_for_all_places();
    building.is_on.set(outer);
    building.unshaped.set(unshaped || !is_for_all);
    (label, is_for_all)
}

/// Whether the path fixes a byte function, and that counts here.
#[inline(always)]
pub fn is_fixed(run: &Run, at: Shaped) -> bool {
    !run.shapes.building.is_on.get() && domains::is_fixed(run, at)
}
