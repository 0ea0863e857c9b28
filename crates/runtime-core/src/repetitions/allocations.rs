//! Sizes of objects that depend on the count: one that is made to measure has room for every
//! length.

use super::{any, concretised};
use crate::build::{self, Value};
use crate::nodes;
use crate::objects::Object;
use crate::state::Run;
use core::cell::Cell;
use trace::{Label, Op};

const MAX_ALLOCATIONS: usize = 64;

/// Objects whose size depends on the count, the oldest overwritten first.
pub struct Allocations {
    /// Start, and label of the size.
    kept: [Cell<(usize, Label)>; MAX_ALLOCATIONS],
    next: Cell<usize>,
}

impl Allocations {
    pub const NEW: Allocations =
        Allocations { kept: [const { Cell::new((0, 0)) }; MAX_ALLOCATIONS], next: Cell::new(0) };

    /// A run begins.
    pub fn reset(&self) {
        self.kept.iter().for_each(|entry| entry.set((0, 0)));
    }
}

/// A library function gives the object as much room as is needed.
pub const ENOUGH: Label = Label::MAX;

/// An object came to be, with a size that has this label.
pub fn note_allocation(run: &Run, start: usize, size: Label) {
    if !any(run) {
        return;
    }
    let Allocations { kept, next } = &run.allocations;
    kept.iter().filter(|entry| entry.get().0 == start).for_each(|entry| entry.set((0, 0)));
    if size == ENOUGH || size != 0 && concretised(run, size) != size {
        kept[next.get() % MAX_ALLOCATIONS].set((start, size));
        next.update(|next| next.wrapping_add(1));
    }
}

/// How much room there is from an address in an object to its end; `None` if there always is
/// enough.
pub fn room(run: &Run, object: &Object, address: usize) -> Option<Value> {
    let offset = (address - object.start) as u64;
    let mut kept = run.allocations.kept.iter().map(Cell::get);
    let size = match kept.find(|entry| any(run) && entry.0 == object.start) {
        Some((_, ENOUGH)) => return None,
        Some((_, size)) => Value::new(size, nodes::value(run, size)),
        None => return Some(Value::concrete((object.size as u64).saturating_sub(offset))),
    };
    let room = size.value.wrapping_sub(offset);
    Some(Value::new(build::binary(run, Op::Sub, 64, size, Value::concrete(offset)), room))
}
