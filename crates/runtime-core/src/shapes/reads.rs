//! Reads from tables at places that a byte of the input decides: lexers and character classes. What
//! such a read gives follows from the shape of the address, and from the table where that may
//! change.

use super::{Shapes, join, split, value};
use crate::objects::Object;
use crate::state::Run;
use crate::{address, build, events};
use core::cell::Cell;
use trace::{CheckKind, Label, Shaped};

pub struct Reads([Cell<Read>; Reads::COUNT]);

#[derive(Clone, Copy)]
struct Read {
    run: u32,
    /// Of the address.
    shape: u32,
    size: usize,
    start: usize,
    object_size: usize,
    /// The snapshot of a table that is no constant: whether it still shows the table has to be
    /// asked.
    snapshot: Option<u32>,
    /// What is read.
    result: u32,
    is_checked: bool,
}

impl Reads {
    const COUNT: usize = 1024;
}

fn slot(shapes: &Shapes, at: Shaped) -> &'static Cell<Read> {
    &shapes.store().reads.0[at.shape as usize % Reads::COUNT]
}

/// What was noted of reads of `size` bytes with an address of this shape.
fn known(run: &Run, at: Shaped, size: usize) -> Option<Read> {
    let read = slot(&run.shapes, at).get();
    let is_known = (read.run, read.shape, read.size) == (run.shapes.number(), at.shape, size);
    is_known.then_some(read)
}

/// What a read of `size` bytes gives, if one with such an address was noted and has not left its
/// object.
pub fn again(run: &Run, la: Label, address: usize, size: usize, site: u32) -> Option<Label> {
    let at = split(run, la)?;
    let read = known(run, at, size)?;
    let is_inside = address >= read.start && address + size <= read.start + read.object_size;
    if !is_inside || value(run, at) != address as u64 {
        return None;
    }
    let object =
        Object { start: read.start, size: read.object_size, constant: read.snapshot.is_none() };
    if let Some(number) = read.snapshot
        && !address::is_as_shown(run, number, &object, address)
    {
        return None;
    }
    if read.is_checked {
        let offset = address::offset_in(run, &object, la, address);
        events::check(
            run,
            address::outside(run, &object, offset, size),
            CheckKind::OutOfBounds,
            site,
        );
    }
    Some(build::concrete_if_constant(run, join(run, Shaped { shape: read.result, ..at })))
}

/// Where reads of `size` bytes with an address of this shape are inside of a table that never
/// changes, from the first to the last place, and the shape of what they give, if that was noted
/// and no address is outside.
pub fn in_constant_table(run: &Run, at: Shaped, size: usize) -> Option<(usize, usize, u32)> {
    let read = known(run, at, size)?;
    let is_simple = read.snapshot.is_none() && !read.is_checked;
    is_simple.then(|| (read.start, read.start + read.object_size - size, read.result))
}

/// A read from an object as a snapshot shows it gave `label`.
pub fn note(run: &Run, la: Label, size: usize, object: &Object, snapshot: u32, label: Label) {
    if let (Some(at), Some(result)) = (split(run, la), split(run, label)) {
        let (start, end) = (object.start as u64, (object.start + object.size - size) as u64);
        let addresses = run.shapes.vector(at.shape);
        slot(&run.shapes, at).set(Read {
            run: run.shapes.number(),
            shape: at.shape,
            size,
            start: object.start,
            object_size: object.size,
            snapshot: (!object.constant).then_some(snapshot),
            result: result.shape,
            is_checked: addresses.iter().any(|address| !(start..=end).contains(address)),
        });
    }
}
