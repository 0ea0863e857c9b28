//! Sizes of objects that depend on the count: one that is made to measure has room for every length.

use super::{any, settled};
use crate::build::{self, Value};
use crate::nodes;
use crate::objects::Object;
use trace::{Label, Op};

/// Objects whose size depends on the count, the oldest overwritten first.
const MOST_ALLOCATIONS: usize = 64;
static mut ALLOCATIONS: [(usize, Label); MOST_ALLOCATIONS] = [(0, 0); MOST_ALLOCATIONS];
static mut NEXT_ALLOCATION: usize = 0;

/// A run begins.
pub unsafe fn forget() {
    unsafe { ALLOCATIONS = [(0, 0); MOST_ALLOCATIONS] };
}

/// A library function gives the object as much room as is needed.
pub const ENOUGH: Label = Label::MAX;

/// An object came to be, with a size that has this label.
pub unsafe fn note_allocation(start: usize, size: Label) {
    unsafe {
        if !any() {
            return;
        }
        let entries = &mut ALLOCATIONS;
        entries.iter_mut().filter(|entry| entry.0 == start).for_each(|entry| *entry = (0, 0));
        if size == ENOUGH || size != 0 && settled(size) != size {
            if let Some(entry) = entries.get_mut(NEXT_ALLOCATION % MOST_ALLOCATIONS) {
                *entry = (start, size);
            }
            NEXT_ALLOCATION += 1;
        }
    }
}

/// How much room there is from an address in an object to its end; `None` if there always is enough.
pub unsafe fn room(object: &Object, address: usize) -> Option<Value> {
    unsafe {
        let offset = (address - object.start) as u64;
        let entries = &ALLOCATIONS;
        let known = entries.iter().find(|entry| any() && entry.0 == object.start);
        let size = match known {
            Some(&(_, ENOUGH)) => return None,
            Some(&(_, size)) => Value::new(size, nodes::value(size)),
            None => return Some(Value::concrete((object.size as u64).saturating_sub(offset))),
        };
        let room = size.value.wrapping_sub(offset);
        Some(Value::new(build::binary(Op::Sub, 64, size, Value::concrete(offset)), room))
    }
}
