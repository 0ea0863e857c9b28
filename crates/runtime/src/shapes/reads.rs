//! Reads from tables at places that a byte of the input decides: lexers and character classes. What such a read gives follows from the shape of
//! the address, and from the table where that may change.

use super::{STORE, join, split, value};
use crate::objects::Object;
use crate::{address, build, events};
use trace::{CheckKind, Label, Shaped};

pub struct Reads([Read; Reads::COUNT]);

#[derive(Clone, Copy)]
struct Read {
    run: u32,
    /// Of the address.
    shape: u32,
    size: usize,
    start: usize,
    object_size: usize,
    /// The snapshot of a table that is no constant: whether it still shows the table has to be asked.
    snapshot: Option<u32>,
    /// What is read.
    result: u32,
    is_checked: bool,
}

impl Reads {
    const COUNT: usize = 1024;

    unsafe fn place(at: Shaped) -> *mut Read {
        unsafe { (&raw mut (*STORE).reads.0).cast::<Read>().add(at.shape as usize % Reads::COUNT) }
    }
}

/// What a read of `size` bytes gives, if one with such an address was noted and has not left its object.
pub unsafe fn again(la: Label, address: usize, size: usize, site: u32) -> Option<Label> {
    unsafe {
        let at = split(la)?;
        let read = *Reads::place(at);
        let is_known = (read.run, read.shape, read.size) == ((*STORE).run, at.shape, size);
        let is_inside = address >= read.start && address + size <= read.start + read.object_size;
        if !is_known || !is_inside || value(at) != address as u64 {
            return None;
        }
        let object = Object { start: read.start, size: read.object_size, constant: read.snapshot.is_none() };
        if read.snapshot.is_some_and(|number| !address::is_as_shown(number, &object, address)) {
            return None;
        }
        if read.is_checked {
            let outside = address::outside(&object, address::offset_in(&object, la, address), size);
            events::check(outside, CheckKind::OutOfBounds, site);
        }
        Some(build::concrete_if_constant(join(Shaped { shape: read.result, ..at })))
    }
}

/// Where reads of `size` bytes with an address of this shape are inside of a table that never changes, from the first to the last place, and the shape of what they
/// give, if that was noted and no address is outside.
pub unsafe fn in_constant_table(at: Shaped, size: usize) -> Option<(usize, usize, u32)> {
    unsafe {
        let read = *Reads::place(at);
        let is_known = (read.run, read.shape, read.size) == ((*STORE).run, at.shape, size);
        let is_simple = is_known && read.snapshot.is_none() && !read.is_checked;
        is_simple.then(|| (read.start, read.start + read.object_size - size, read.result))
    }
}

/// A read from an object as a snapshot shows it gave `label`.
pub unsafe fn note(la: Label, size: usize, object: &Object, snapshot: u32, label: Label) {
    unsafe {
        if let (Some(at), Some(result)) = (split(la), split(label)) {
            let (start, end) = (object.start as u64, (object.start + object.size - size) as u64);
            let is_checked = super::vector(at.shape).iter().any(|address| !(start..=end).contains(address));
            *Reads::place(at) = Read {
                run: (*STORE).run,
                shape: at.shape,
                size,
                start: object.start,
                object_size: object.size,
                snapshot: (!object.constant).then_some(snapshot),
                result: result.shape,
                is_checked,
            };
        }
    }
}
