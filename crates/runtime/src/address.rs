//! Reads and writes at symbolic addresses.
//!
//! A read from an object with known bounds becomes an expression over a snapshot of the object's content; a write
//! into a small one becomes a choice for each of its bytes. Everything else fixes the address to its value, which is
//! recorded.

use crate::build::{self, Value};
use crate::objects::{self, Object};
use crate::shapes::{self, domains, reads};
use crate::state::{self, STATE, count_give_up};
use crate::{budget, checks, events, nodes, os, regions, shadow, stretches};
use trace::{CheckKind, ConcretiseReason, GiveUp, Label, Node, Op, Table};

/// Largest object that is copied into the trace as a whole.
const MAX_TABLE: usize = 1 << 16;
/// The same for objects that change, once this many bytes were copied: what a long run reads of a large table is mostly new each time.
const MAX_CHANGING: usize = 1 << 12;
const MANY_COPIED: usize = 512 << 10;
/// Largest object that may change and is compared with its snapshot at each read.
const MOST_ASKED: usize = 1 << 10;
/// Largest object that a write at a symbolic address is spread over, in elements.
const MAX_WRITE: usize = 256;
/// Elements that all writes of a run may be spread over, and bytes that all snapshots with labels may have. Long inputs of a parser
/// whose stack depends on the input would fill the trace with these; from here on addresses are fixed.
pub(crate) const MOST_SPREAD: usize = 1 << 15;
const MOST_LABELLED: usize = 1 << 17;

/// The object that an access is meant for: what the instrumenter knows, or what the address points into.
unsafe fn object_of(address: usize, start: usize, size: usize) -> Option<Object> {
    unsafe {
        if start != 0 {
            return Some(Object { start, size, constant: false });
        }
        objects::find(address)
    }
}

/// Whether an access of `size` bytes lies in the object.
fn contains(object: &Object, address: usize, size: usize) -> bool {
    address >= object.start && address.saturating_add(size) <= object.start + object.size
}

/// Label of a value of `size` bytes loaded from `address`, whose label is `la`. `start` and `object_size` are the
/// bounds of the object where the instrumenter knows them, otherwise 0.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_load_at(
    address: usize,
    la: Label,
    value: u64,
    size: usize,
    start: usize,
    object_size: usize,
    site: u32,
) -> Label {
    unsafe {
        if la == 0 {
            return shadow::load_plainly(address, size, value);
        }
        if !events::is_fixed(la)
            && let Some(_entered) = state::enter()
        {
            if budget::settles_address(la) {
                return shadow_label(address, size, value);
            }
            if let Some(label) = reads::again(la, address, size, site) {
                return without_if_constant(label);
            }
            if without_if_constant(la) == 0 {
                return shadow_label(address, size, value);
            }
            let settled = stretches::settled(la);
            if settled != 0
                && let Some(label) = read(address, settled, value, size, start, object_size, site)
            {
                return without_if_constant(label);
            }
            events::concretise(la, ConcretiseReason::ReadAddress, site);
        }
        shadow::__tg_load_sized(address, value, size)
    }
}

unsafe fn read(
    address: usize,
    la: Label,
    value: u64,
    size: usize,
    start: usize,
    object_size: usize,
    site: u32,
) -> Option<Label> {
    unsafe {
        if nodes::value(la) != address as u64 {
            count_give_up(GiveUp::Stale);
            return None;
        }
        let Some(object) = object_of(address, start, object_size) else {
            checks::pointer(la, address, site);
            return None;
        };
        check_bounds(&object, offset_in(&object, la, address), size, site);
        if size > 8 || !contains(&object, address, size) {
            return None;
        }
        let window = window_of(&object, address);
        let offset = offset_in(&window, la, address);
        if window.size < object.size {
            events::concretise(outside(&window, offset, size), ConcretiseReason::ReadAddress, site);
        }
        settle_object(&object, la, address, site);
        if offset.label == 0 {
            return Some(shadow_label(address, size, value));
        }
        let table = snapshot(&window)?;
        let node =
            Node { op: Op::Read as u8, bits: (size * 8) as u8, aux: 0, a: offset.label, b: table, c: 0 };
        let label = nodes::make(node, value);
        if label == 0 {
            return None;
        }
        let is_small = object.constant || object.size <= MOST_ASKED;
        if is_small && window.size == object.size && !is_loaded(la) {
            reads::note(la, size, &object, table, label);
        }
        Some(build::concrete_if_constant(label))
    }
}

/// A label, or 0 if it has one value for all that its byte can be on this path: a parser's tables say the same for many tokens.
pub(crate) unsafe fn without_if_constant(label: Label) -> Label {
    unsafe {
        match shapes::split(label) {
            Some(at) if domains::is_constant(at) => 0,
            None if label != 0 && events::follows(label) => 0,
            _ => label,
        }
    }
}

unsafe fn shadow_label(address: usize, size: usize, value: u64) -> Label {
    unsafe { if shadow::any_label(address, size) { shadow::loaded(address, size, value) } else { 0 } }
}

/// The part of a large object around an address.
unsafe fn window_of(object: &Object, address: usize) -> Object {
    // SAFETY: the guard is held.
    let changing = unsafe { !object.constant && SPENT.copied > MANY_COPIED };
    let most = if changing { MAX_CHANGING } else { MAX_TABLE };
    if object.size <= most {
        return *object;
    }
    // A multiple of half a window, so that accesses nearby see the same one.
    let from = (address - object.start).saturating_sub(most / 4) & !(most / 2 - 1);
    let size = most.min(object.size - from);
    Object { start: object.start + from, size, constant: object.constant }
}

pub(crate) unsafe fn offset_in(object: &Object, la: Label, address: usize) -> Value {
    unsafe {
        let offset =
            build::binary(Op::Sub, 64, Value::new(la, address as u64), Value::concrete(object.start as u64));
        Value::new(offset, address.wrapping_sub(object.start) as u64)
    }
}

/// The condition that an access goes beyond the object.
pub(crate) unsafe fn outside(object: &Object, offset: Value, size: usize) -> Label {
    unsafe { build::binary(Op::Ult, 64, Value::concrete((object.size - size) as u64), offset) }
}

/// The access stays within the object: a property.
unsafe fn check_bounds(object: &Object, offset: Value, size: usize, site: u32) {
    unsafe {
        if object.size < size {
            return events::violated(CheckKind::OutOfBounds, site);
        }
        events::check(outside(object, offset, size), CheckKind::OutOfBounds, site);
    }
}

/// An index of an array of `count` elements inside an object: that it is beyond the array is a
/// property. It is asked for only where this run stays inside, because a declaration is not the
/// truth about memory: there are headers of larger blocks, and views of smaller ones. What leaves
/// the array is the sanitized variant's to judge.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_member(count: u64, label: Label, index: u64, site: u32) {
    // SAFETY: the label is that of the index.
    unsafe {
        if label == 0 {
            return;
        }
        let Some(_entered) = state::enter() else { return };
        let beyond = build::binary(Op::Ult, 64, Value::concrete(count - 1), Value::new(label, index));
        // A region with such an index is built each time, also if this run is outside: others are not.
        if beyond != 0 && regions::may_check(beyond) && index < count {
            events::check(beyond, CheckKind::OutOfBounds, site);
        }
    }
}

/// A pointer that was itself read at a symbolic address may lead to another object on another input. Which one it is belongs
/// to the path: what follows is about this object's content.
unsafe fn settle_object(object: &Object, la: Label, address: usize, site: u32) {
    unsafe {
        if !is_loaded(la) {
            return;
        }
        let (offset, end) = (offset_in(object, la, address), Value::concrete(object.size as u64));
        let inside = Value::new(build::binary(Op::Ult, 64, offset, end), u64::from(offset.value < end.value));
        let start = Value::concrete(object.start as u64);
        let choice = build::ite(64, inside, start, Value::concrete(0));
        events::concretise(choice, ConcretiseReason::ReadAddress, site);
    }
}

/// Whether a pointer was read from a table, or is a constant away from one that was.
unsafe fn is_loaded(mut label: Label) -> bool {
    unsafe {
        loop {
            let node = nodes::node(label);
            let is_sum = node.op == Op::Add as u8 || node.op == Op::Sub as u8;
            label = match is_sum {
                true if nodes::as_constant(node.b).is_some() => node.a,
                true if nodes::as_constant(node.a).is_some() => node.b,
                _ => return node.op == Op::Read as u8 && node.bits == 64,
            };
        }
    }
}

/// A model is about to follow a pointer, which it takes as fixed: what is there is no expression of where it is.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_follow(address: usize, la: Label, site: u32) {
    unsafe {
        if la != 0
            && let Some(_entered) = state::enter()
        {
            follow(address, la, site);
        }
    }
}

unsafe fn follow(address: usize, la: Label, site: u32) {
    unsafe {
        if nodes::value(la) != address as u64 {
            return count_give_up(GiveUp::Stale);
        }
        // Where it was computed, it may point to an end behind which nothing is asked for.
        if is_loaded(la)
            && let Some(object) = objects::find(address)
        {
            check_bounds(&object, offset_in(&object, la, address), 1, site);
        }
        events::concretise(la, ConcretiseReason::ReadAddress, site);
    }
}

/// An access to `size` bytes from `address` on stays within the object there: a property. A size that does not depend on the input counts if it
/// is too large, because the path may have fixed it. The guard is held.
pub unsafe fn check_room(address: usize, size: Value, site: u32) {
    unsafe {
        if let Some(object) = objects::find(address)
            && let Some(room) = stretches::room(&object, address)
        {
            let too_small = build::binary(Op::Ult, 64, room, size);
            if too_small == 0 && room.value < size.value {
                events::violated(CheckKind::OutOfBounds, site);
            }
            events::check(too_small, CheckKind::OutOfBounds, site);
        }
    }
}

/// The snapshots taken so far, newest last: which memory each shows.
const MAX_SNAPSHOTS: usize = 512;
static mut SNAPSHOT_STARTS: [usize; MAX_SNAPSHOTS] = [0; MAX_SNAPSHOTS];

/// The snapshot that was used last for objects with this remainder of their start; one more than its number.
const RECENT: usize = 256;
static mut RECENT_SNAPSHOTS: [(usize, u32); RECENT] = [(0, 0); RECENT];

fn recent_place(start: usize) -> usize {
    (start >> 4) % RECENT
}

unsafe fn recent(start: usize) -> &'static mut (usize, u32) {
    unsafe { &mut RECENT_SNAPSHOTS[recent_place(start)] }
}

/// What a run has used up of its limits.
struct Spent {
    copied: usize,
    labelled: usize,
    spread: usize,
}

const NOTHING: Spent = Spent { copied: 0, labelled: 0, spread: 0 };
static mut SPENT: Spent = NOTHING;

/// The shadow memory that the recent snapshots with labels show, [`MAX_TABLE`] entries each: an object that did not change since
/// needs no other snapshot.
static mut SEEN: *mut u32 = core::ptr::null_mut();

/// Before the first run: a process that begins again keeps no memory of a run.
pub unsafe fn prepare() {
    unsafe { SEEN = os::allocate(RECENT * MAX_TABLE * size_of::<u32>()).cast() };
}

unsafe fn seen(start: usize) -> Option<*mut u32> {
    unsafe { (!SEEN.is_null()).then(|| SEEN.add(recent_place(start) * MAX_TABLE)) }
}

/// A run ends.
pub unsafe fn forget_snapshots() {
    unsafe { (RECENT_SNAPSHOTS, SPENT) = ([(0, 0); RECENT], NOTHING) };
}

pub(crate) unsafe fn tables() -> *mut Table {
    unsafe { STATE.header.cast::<u8>().add((*STATE.header).tables.offset as usize).cast() }
}

pub(crate) unsafe fn data() -> *mut u8 {
    unsafe { STATE.header.cast::<u8>().add((*STATE.header).data.offset as usize) }
}

/// Whether no byte of a table depends on the input.
pub(crate) unsafe fn is_concrete(table: u32) -> bool {
    unsafe { (*tables().add(table as usize)).labels == u32::MAX }
}

/// The `size` bytes at `offset` of a table that holds no labels, as a number.
pub(crate) unsafe fn content(table: u32, offset: u64, size: u32) -> Option<u64> {
    unsafe {
        let table = &*tables().add(table as usize);
        let byte = |i: u32| match offset.checked_add(i as u64) {
            Some(place) if place < table.len as u64 => {
                *data().add(table.data as usize + place as usize) as u64
            }
            _ => 0,
        };
        (table.labels == u32::MAX).then(|| (0..size).fold(0, |number, i| number | byte(i) << (8 * i)))
    }
}

/// The number of a table with the object's content as it is now.
unsafe fn snapshot(object: &Object) -> Option<u32> {
    unsafe {
        let symbolic = !object.constant && shadow::any_label(object.start, object.size);
        if symbolic && budget::is_spent() {
            return None;
        }
        let known = if symbolic { find_labelled(object) } else { find_snapshot(object) };
        if known.is_some() {
            return known;
        }
        let has_changed = !object.constant && recent(object.start).0 == object.start;
        if has_changed && budget::is_spent() || !may_copy(object, symbolic) {
            return None;
        }
        let number = (*STATE.header).table_count;
        if number as u64 >= (*STATE.header).tables.capacity {
            count_give_up(GiveUp::TraceFull);
            return None;
        }
        let bytes = reserve_data(object.size)?;
        os::memcpy(data().add(bytes as usize).cast(), object.start as *const _, object.size);
        let labels = if symbolic { copy_labels(object.start, object.size)? } else { u32::MAX };
        *tables().add(number as usize) = Table { data: bytes, len: object.size as u32, labels, reserved: 0 };
        (*STATE.header).table_count = number + 1;
        remember(object, number, symbolic);
        Some(number)
    }
}

/// Whether the run may have one more snapshot: others than constants leave half of the room to texts and words.
unsafe fn may_copy(object: &Object, symbolic: bool) -> bool {
    unsafe {
        let labelled = if symbolic { object.size } else { 0 };
        let needed = object.size + 4 * labelled;
        let is_room = (SPENT.copied + needed) as u64 <= (*STATE.header).data.capacity / 2;
        if !object.constant && !is_room || SPENT.labelled + labelled > MOST_LABELLED {
            return false;
        }
        SPENT.copied += needed;
        SPENT.labelled += labelled;
        true
    }
}

unsafe fn remember(object: &Object, number: u32, symbolic: bool) {
    unsafe {
        if let Some(slot) = SNAPSHOT_STARTS.get_mut(number as usize) {
            *slot = object.start;
        }
        let remembered = if symbolic {
            seen(object.start).map(|seen| shadow::save_entries(object.start, object.size, seen)).is_some()
        } else {
            true
        };
        *recent(object.start) = (object.start, if remembered { number + 1 } else { 0 });
    }
}

/// The last snapshot of an object with labels, if it did not change since.
unsafe fn find_labelled(object: &Object) -> Option<u32> {
    unsafe {
        let (start, number) = *recent(object.start);
        let number = number.checked_sub(1).filter(|_| start == object.start)?;
        let table = *tables().add(number as usize);
        let is_like = table.len as usize == object.size && table.labels != u32::MAX;
        let same = is_like
            && same_bytes(&table, object)
            && shadow::has_entries(object.start, object.size, seen(object.start)?);
        same.then_some(number)
    }
}

unsafe fn find_snapshot(object: &Object) -> Option<u32> {
    unsafe {
        let (start, number) = *recent(object.start);
        if start == object.start && number != 0 && shows(number - 1, object) {
            return Some(number - 1);
        }
        let count = (*STATE.header).table_count.min(MAX_SNAPSHOTS as u32);
        let of_object = |number: &u32| SNAPSHOT_STARTS.get(*number as usize).copied() == Some(object.start);
        let found = (0..count).rev().filter(of_object).find(|number| shows(*number, object))?;
        *recent(object.start) = (object.start, found + 1);
        Some(found)
    }
}

/// Whether an object is still what an address leads to, and as a snapshot of it shows, without labels.
pub(crate) unsafe fn is_as_shown(number: u32, object: &Object, address: usize) -> bool {
    unsafe {
        let is_there = objects::find(address)
            .is_some_and(|found| (found.start, found.size) == (object.start, object.size));
        is_there && shows(number, object) && !shadow::any_label(object.start, object.size)
    }
}

/// Whether a snapshot of memory at the object's start shows the object as it is now, without labels.
unsafe fn shows(number: u32, object: &Object) -> bool {
    unsafe {
        let table = *tables().add(number as usize);
        table.len as usize == object.size
            && table.labels == u32::MAX
            && (object.constant || same_bytes(&table, object))
    }
}

unsafe fn same_bytes(table: &Table, object: &Object) -> bool {
    unsafe { os::memcmp(data().add(table.data as usize).cast(), object.start as *const _, object.size) == 0 }
}

pub(crate) unsafe fn reserve_data(size: usize) -> Option<u32> {
    unsafe {
        let at = (*STATE.header).data_len;
        let end = at as u64 + (size as u64).next_multiple_of(4);
        if end > (*STATE.header).data.capacity || end > u32::MAX as u64 {
            count_give_up(GiveUp::TraceFull);
            return None;
        }
        (*STATE.header).data_len = end as u32;
        Some(at)
    }
}

pub(crate) unsafe fn copy_labels(start: usize, size: usize) -> Option<u32> {
    unsafe {
        let at = reserve_data(size * 4)?;
        let labels = data().add(at as usize).cast::<u32>();
        for i in 0..size {
            let label = shadow::label_of_byte(start + i);
            *labels.add(i) = if stretches::is_filler(label) { 0 } else { label };
        }
        Some(at)
    }
}

/// Labels of a store of `size` bytes with label `label` at `address`, whose label is `la`. Called before the program's own
/// store, because the bytes that are *not* written keep their old values.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn __tg_store_at(
    address: usize,
    la: Label,
    label: Label,
    value: u64,
    size: usize,
    start: usize,
    object_size: usize,
    site: u32,
) {
    unsafe {
        if la == 0 || events::is_fixed(la) {
            return shadow::store_plainly(address, label, size);
        }
        let Some(_entered) = state::enter() else { return };
        let la = if budget::settles_address(la) { 0 } else { without_if_constant(la) };
        let settled = if la == 0 { 0 } else { stretches::settled(la) };
        if settled == 0
            || !spread_write(address, settled, Value::new(label, value), size, start, object_size, site)
        {
            events::concretise(la, ConcretiseReason::WriteAddress, site);
            for i in 0..size {
                shadow::set_entry(address + i, if label == 0 { 0 } else { shadow::part(label, i) });
            }
        }
    }
}

/// Gives every element of a small object the expression "the new value if the address is mine, else the old one".
unsafe fn spread_write(
    address: usize,
    la: Label,
    new: Value,
    size: usize,
    start: usize,
    object_size: usize,
    site: u32,
) -> bool {
    unsafe {
        if nodes::value(la) != address as u64 {
            return false;
        }
        let Some(object) = object_of(address, start, object_size) else {
            checks::pointer(la, address, site);
            return false;
        };
        let offset = offset_in(&object, la, address);
        check_bounds(&object, offset, size, site);
        if size == 0 || size > 8 || !contains(&object, address, size) {
            return false;
        }
        let elements = object.size / size;
        let aligned =
            address.wrapping_sub(object.start).is_multiple_of(size) && object.size.is_multiple_of(size);
        let is_small = elements <= MAX_WRITE && SPENT.spread + elements <= MOST_SPREAD;
        if !is_small || !aligned || object.constant || offset.label == 0 {
            return false;
        }
        SPENT.spread += elements;
        for i in 0..elements {
            write_element(object.start + i * size, offset, (i * size) as u64, new, size);
        }
        true
    }
}

unsafe fn write_element(at: usize, offset: Value, here: u64, new: Value, size: usize) {
    unsafe {
        let bits = size as u32 * 8;
        let old_value = shadow::read_value(at, size);
        let old = Value::new(shadow_label(at, size, old_value), old_value);
        let hit = build::binary(Op::Eq, 64, offset, Value::concrete(here));
        let written = Value::new(hit, (offset.value == here) as u64);
        let label = build::ite(bits, written, new, old);
        for i in 0..size {
            shadow::set_entry(at + i, if label == 0 { 0 } else { shadow::part(label, i) });
        }
    }
}
