//! Reads and writes at symbolic addresses.
//!
//! A read from an object with known bounds becomes an expression over a snapshot of the object's
//! content; a write into a small one becomes a choice for each of its bytes. Everything else fixes
//! the address to its value, which is recorded.

use crate::build::{self, Value};
use crate::facts::{self, domains};
use crate::objects::{self, Object};
use crate::shapes::{self, reads};
use crate::state::{self, Run};
use crate::{budget, checks, events, memory, nodes, os, regions, repetitions, shadow};
use core::cell::Cell;
use core::ptr::null_mut;
use trace::{CheckKind, ConcretiseReason, GiveUp, Label, Node, Op, Table};

/// Largest object that is copied into the trace as a whole.
const MAX_TABLE: usize = 1 << 16;
/// The same for objects that change, once this many bytes were copied: what a long run reads of a
/// large table is mostly new each time.
const MAX_CHANGING: usize = 1 << 12;
const MANY_COPIED: usize = 512 << 10;
/// Largest object that may change and is compared with its snapshot at each read.
const MAX_COMPARED: usize = 1 << 10;
/// Largest object that a write at a symbolic address is spread over, in elements.
const MAX_WRITE: usize = 256;
/// Elements that all writes of a run may be spread over, and bytes that all snapshots with labels
/// may have. Long inputs of a parser whose stack depends on the input would fill the trace with
/// these; from here on addresses are fixed.
pub(crate) const MAX_SPREAD: usize = 1 << 15;
const MAX_LABELLED: usize = 1 << 17;
/// Snapshots that are found by what they show.
const MAX_SNAPSHOTS: usize = 512;
/// Snapshots that are found by the place of what they show.
const RECENT: usize = 256;

/// The snapshots of this run.
pub struct Snapshots {
    /// Which memory each shows, newest last.
    starts: [Cell<usize>; MAX_SNAPSHOTS],
    /// The snapshot that was used last for objects with this remainder of their start: the start,
    /// and one more than its number.
    recent: [Cell<(usize, u32)>; RECENT],
    spent: Cell<Spent>,
    /// The shadow memory that the recent snapshots with labels show, [`MAX_TABLE`] entries each: an
    /// object that did not change since needs no other snapshot.
    seen: Cell<*mut u32>,
}

impl Snapshots {
    pub const NEW: Snapshots = Snapshots {
        starts: [const { Cell::new(0) }; MAX_SNAPSHOTS],
        recent: [const { Cell::new((0, 0)) }; RECENT],
        spent: Cell::new(Spent::NOTHING),
        seen: Cell::new(null_mut()),
    };

    /// A run ends.
    pub fn reset(&self) {
        self.recent.iter().for_each(|recent| recent.set((0, 0)));
        self.spent.set(Spent::NOTHING);
    }

    /// Before the first run: a process that begins again keeps no memory of a run.
    pub fn prepare(&self) {
        self.seen.set(os::allocate(RECENT * MAX_TABLE * size_of::<u32>()).cast());
    }

    /// Snapshots with these numbers are those of another process, whose memory is not this one's.
    pub fn adopt(&self, first: u32, end: u32) {
        let theirs = self.starts.get(first as usize..(end as usize).min(MAX_SNAPSHOTS));
        theirs.unwrap_or_default().iter().for_each(|start| start.set(0));
    }

    fn place(start: usize) -> usize {
        (start >> 4) % RECENT
    }

    fn recent(&self, start: usize) -> &Cell<(usize, u32)> {
        &self.recent[Snapshots::place(start)]
    }

    /// Where the shadow memory of an object is kept; `None` if there is no room.
    fn seen(&self, object: &Object) -> Option<*mut u32> {
        let is_room = !self.seen.get().is_null() && object.size <= MAX_TABLE;
        is_room.then(|| self.seen.get().wrapping_add(Snapshots::place(object.start) * MAX_TABLE))
    }
}

/// What a run has used up of its limits.
#[derive(Clone, Copy)]
struct Spent {
    copied: usize,
    labelled: usize,
    spread: usize,
}

impl Spent {
    const NOTHING: Spent = Spent { copied: 0, labelled: 0, spread: 0 };
}

/// An access to memory at a symbolic address.
struct Access {
    address: usize,
    size: usize,
    /// The bounds of the object where the instrumenter knows them, otherwise 0.
    start: usize,
    object_size: usize,
    site: u32,
}

impl Access {
    /// The object that it is meant for: what the instrumenter knows, or what the address points
    /// into.
    fn object(&self, run: &Run) -> Option<Object> {
        if self.start != 0 {
            return Some(Object { start: self.start, size: self.object_size, constant: false });
        }
        objects::find(run, self.address)
    }
}

/// Whether an access of `size` bytes lies in the object.
fn contains(object: &Object, address: usize, size: usize) -> bool {
    address >= object.start && address.saturating_add(size) <= object.start + object.size
}

/// Label of a value of `size` bytes loaded from `address`, whose label is `la`. `start` and
/// `object_size` are the bounds of the object where the instrumenter knows them, otherwise 0.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_load_at(
    address: usize,
    la: Label,
    value: u64,
    size: usize,
    start: usize,
    object_size: usize,
    site: u32,
) -> Label {
    let run = Run::current();
    if la == 0 {
        return shadow::load_plainly(address, size, value);
    }
    if !facts::is_fixed(run, la)
        && let Some(_entered) = state::enter(run)
    {
        if budget::concretises_address(run, la) {
            return shadow_label(run, address, size, value);
        }
        if let Some(label) = reads::again(run, la, address, size, site) {
            return without_if_constant(run, label);
        }
        if without_if_constant(run, la) == 0 {
            return shadow_label(run, address, size, value);
        }
        let access = Access { address, size, start, object_size, site };
        let concretised = repetitions::concretised(run, la);
        if concretised != 0
            && let Some(label) = read(run, &access, concretised, value)
        {
            return without_if_constant(run, label);
        }
        events::concretise(run, la, ConcretiseReason::ReadAddress, site);
    }
    shadow::__tg_load_sized(address, value, size)
}

fn read(run: &Run, access: &Access, la: Label, value: u64) -> Option<Label> {
    let &Access { address, size, site, .. } = access;
    if nodes::value(run, la) != address as u64 {
        run.segment.count_give_up(GiveUp::Stale);
        return None;
    }
    let Some(object) = access.object(run) else {
        checks::pointer(run, la, address, site);
        return None;
    };
    check_bounds(run, &object, offset_in(run, &object, la, address), size, site);
    if size > 8 || !contains(&object, address, size) {
        return None;
    }
    let window = window_of(run, &object, address);
    let offset = offset_in(run, &window, la, address);
    if window.size < object.size {
        events::concretise(
            run,
            outside(run, &window, offset, size),
            ConcretiseReason::ReadAddress,
            site,
        );
    }
    concretise_object(run, &object, la, address, site);
    if offset.label == 0 {
        return Some(shadow_label(run, address, size, value));
    }
    let table = snapshot(run, &window)?;
    let node = Node {
        op: Op::Read as u8,
        bits: (size * 8) as u8,
        aux: 0,
        a: offset.label,
        b: table,
        c: 0,
    };
    let label = nodes::make(run, node, value);
    if label == 0 {
        return None;
    }
    let is_small = object.constant || object.size <= MAX_COMPARED;
    if is_small && window.size == object.size && !is_loaded(run, la) {
        reads::note(run, la, size, &object, table, label);
    }
    Some(build::concrete_if_constant(run, label))
}

/// A label, or 0 if it has one value for all that its byte can be on this path: a parser's tables
/// say the same for many tokens.
pub(crate) fn without_if_constant(run: &Run, label: Label) -> Label {
    match shapes::split(run, label) {
        Some(at) if domains::is_constant(run, at) => 0,
        None if label != 0 && facts::follows(run, label) => 0,
        _ => label,
    }
}

fn shadow_label(run: &Run, address: usize, size: usize, value: u64) -> Label {
    if shadow::any_label(address, size) { shadow::loaded(run, address, size, value) } else { 0 }
}

/// The part of a large object around an address.
fn window_of(run: &Run, object: &Object, address: usize) -> Object {
    let changing = !object.constant && run.snapshots.spent.get().copied > MANY_COPIED;
    let most = if changing { MAX_CHANGING } else { MAX_TABLE };
    if object.size <= most {
        return *object;
    }
    // A multiple of half a window, so that accesses nearby see the same one.
    let from = (address - object.start).saturating_sub(most / 4) & !(most / 2 - 1);
    let size = most.min(object.size - from);
    Object { start: object.start + from, size, constant: object.constant }
}

pub(crate) fn offset_in(run: &Run, object: &Object, la: Label, address: usize) -> Value {
    let offset = build::binary(
        run,
        Op::Sub,
        64,
        Value::new(la, address as u64),
        Value::concrete(object.start as u64),
    );
    Value::new(offset, address.wrapping_sub(object.start) as u64)
}

/// The condition that an access goes beyond the object.
pub(crate) fn outside(run: &Run, object: &Object, offset: Value, size: usize) -> Label {
    build::binary(run, Op::Ult, 64, Value::concrete((object.size - size) as u64), offset)
}

/// The access stays within the object: a property.
fn check_bounds(run: &Run, object: &Object, offset: Value, size: usize, site: u32) {
    if object.size < size {
        return events::violated(run, CheckKind::OutOfBounds, site);
    }
    events::check(run, outside(run, object, offset, size), CheckKind::OutOfBounds, site);
}

/// An index of an array of `count` elements inside an object: that it is beyond the array is a
/// property. It is asked for only where this run stays inside, because a declaration is not the
/// truth about memory: there are headers of larger blocks, and views of smaller ones. What leaves
/// the array is the sanitized variant's to judge.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_member(count: u64, label: Label, index: u64, site: u32) {
    if label == 0 {
        return;
    }
    let run = Run::current();
    let Some(_entered) = state::enter(run) else { return };
    let (last, index) = (Value::concrete(count - 1), Value::new(label, index));
    let beyond = build::binary(run, Op::Ult, 64, last, index);
    // A region with such an index is built each time, also if this run is outside: others are not.
    if beyond != 0 && regions::may_check(run, beyond) && index.value < count {
        events::check(run, beyond, CheckKind::OutOfBounds, site);
    }
}

/// A pointer that was itself read at a symbolic address may lead to another object on another
/// input. Which one it is belongs to the path: what follows is about this object's content.
fn concretise_object(run: &Run, object: &Object, la: Label, address: usize, site: u32) {
    if !is_loaded(run, la) {
        return;
    }
    let (offset, end) = (offset_in(run, object, la, address), Value::concrete(object.size as u64));
    let inside = Value::new(
        build::binary(run, Op::Ult, 64, offset, end),
        u64::from(offset.value < end.value),
    );
    let start = Value::concrete(object.start as u64);
    let choice = build::ite(run, 64, inside, start, Value::concrete(0));
    events::concretise(run, choice, ConcretiseReason::ReadAddress, site);
}

/// Whether a pointer was read from a table, or is a constant away from one that was.
fn is_loaded(run: &Run, mut label: Label) -> bool {
    loop {
        let node = nodes::node(run, label);
        let is_sum = node.op == Op::Add as u8 || node.op == Op::Sub as u8;
        label = match is_sum {
            true if nodes::as_constant(run, node.b).is_some() => node.a,
            true if nodes::as_constant(run, node.a).is_some() => node.b,
            _ => return node.op == Op::Read as u8 && node.bits == 64,
        };
    }
}

/// A model is about to follow a pointer, which it takes as fixed: what is there is no expression of
/// where it is.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_follow(address: usize, la: Label, site: u32) {
    let run = Run::current();
    if la != 0
        && let Some(_entered) = state::enter(run)
    {
        follow(run, address, la, site);
    }
}

fn follow(run: &Run, address: usize, la: Label, site: u32) {
    if nodes::value(run, la) != address as u64 {
        return run.segment.count_give_up(GiveUp::Stale);
    }
    // Where it was computed, it may point to an end after which nothing is asked for.
    if is_loaded(run, la)
        && let Some(object) = objects::find(run, address)
    {
        check_bounds(run, &object, offset_in(run, &object, la, address), 1, site);
    }
    events::concretise(run, la, ConcretiseReason::ReadAddress, site);
}

/// An access to `size` bytes from `address` on stays within the object there: a property. A size
/// that does not depend on the input counts if it is too large, because the path may have fixed it.
/// The guard is held.
pub fn check_room(run: &Run, address: usize, size: Value, site: u32) {
    if let Some(object) = objects::find(run, address)
        && let Some(room) = repetitions::room(run, &object, address)
    {
        let too_small = build::binary(run, Op::Ult, 64, room, size);
        if too_small == 0 && room.value < size.value {
            events::violated(run, CheckKind::OutOfBounds, site);
        }
        events::check(run, too_small, CheckKind::OutOfBounds, site);
    }
}

/// Whether no byte of a table depends on the input.
pub(crate) fn is_concrete(run: &Run, table: u32) -> bool {
    run.segment.table(table).labels == u32::MAX
}

/// The `size` bytes at `offset` of a table that holds no labels, as a number.
pub(crate) fn content(run: &Run, table: u32, offset: u64, size: u32) -> Option<u64> {
    let table = run.segment.table(table);
    let byte = |i: u32| match offset.checked_add(i as u64) {
        Some(place) if place < table.len as u64 => {
            // SAFETY: the table has so many bytes in the segment.
            u64::from(unsafe { *run.segment.data(table.data).add(place as usize) })
        }
        _ => 0,
    };
    (table.labels == u32::MAX).then(|| (0..size).fold(0, |number, i| number | byte(i) << (8 * i)))
}

/// The number of a table with the object's content as it is now.
fn snapshot(run: &Run, object: &Object) -> Option<u32> {
    let symbolic = !object.constant && shadow::any_label(object.start, object.size);
    if symbolic && budget::is_spent(run) {
        return None;
    }
    let known = if symbolic { find_labelled(run, object) } else { find_snapshot(run, object) };
    if known.is_some() {
        return known;
    }
    let has_changed =
        !object.constant && run.snapshots.recent(object.start).get().0 == object.start;
    if has_changed && budget::is_spent(run) || !may_copy(run, object, symbolic) {
        return None;
    }
    let number = run.segment.table_count();
    if number as u64 >= run.segment.table_cap() {
        run.segment.count_give_up(GiveUp::TraceFull);
        return None;
    }
    let data = copy_bytes(run, object.start, object.size)?;
    let labels = if symbolic { copy_labels(run, object.start, object.size)? } else { u32::MAX };
    run.segment.set_table(number, Table { data, len: object.size as u32, labels, reserved: 0 });
    run.segment.set_table_count(number + 1);
    remember(run, object, number, symbolic);
    Some(number)
}

/// Whether the run may have one more snapshot: others than constants leave half of the room to
/// texts and words.
fn may_copy(run: &Run, object: &Object, symbolic: bool) -> bool {
    let spent = run.snapshots.spent.get();
    let labelled = if symbolic { object.size } else { 0 };
    let needed = object.size + 4 * labelled;
    let is_room = (spent.copied + needed) as u64 <= run.segment.data_cap() / 2;
    if !object.constant && !is_room || spent.labelled + labelled > MAX_LABELLED {
        return false;
    }
    let (copied, labelled) = (spent.copied + needed, spent.labelled + labelled);
    run.snapshots.spent.set(Spent { copied, labelled, ..spent });
    true
}

fn remember(run: &Run, object: &Object, number: u32, symbolic: bool) {
    if let Some(start) = run.snapshots.starts.get(number as usize) {
        start.set(object.start);
    }
    let remembered = !symbolic || save_entries(run, object);
    let number = if remembered { number + 1 } else { 0 };
    run.snapshots.recent(object.start).set((object.start, number));
}

/// Keeps the shadow memory that a snapshot shows; false if there is no room.
fn save_entries(run: &Run, object: &Object) -> bool {
    let Some(seen) = run.snapshots.seen(object) else { return false };
    // SAFETY: each place has room for the entries of the largest snapshot, and nobody else refers
    // to it.
    shadow::save_entries(object.start, unsafe {
        core::slice::from_raw_parts_mut(seen, object.size)
    });
    true
}

/// Whether an object has the shadow memory that its recent snapshot shows.
fn has_seen_entries(run: &Run, object: &Object) -> bool {
    run.snapshots.seen(object).is_some_and(|seen| {
        // SAFETY: as above; the snapshot of an object of this size is the last that was kept here.
        shadow::has_entries(object.start, unsafe { core::slice::from_raw_parts(seen, object.size) })
    })
}

/// The last snapshot of an object with labels, if it did not change since.
fn find_labelled(run: &Run, object: &Object) -> Option<u32> {
    let (start, number) = run.snapshots.recent(object.start).get();
    let number = number.checked_sub(1).filter(|_| start == object.start)?;
    let table = run.segment.table(number);
    let is_like = table.len as usize == object.size && table.labels != u32::MAX;
    let same = is_like && same_bytes(run, &table, object) && has_seen_entries(run, object);
    same.then_some(number)
}

fn find_snapshot(run: &Run, object: &Object) -> Option<u32> {
    let recent = run.snapshots.recent(object.start);
    let (start, number) = recent.get();
    if start == object.start && number != 0 && shows(run, number - 1, object) {
        return Some(number - 1);
    }
    let count = run.segment.table_count() as usize;
    let starts = run.snapshots.starts.iter().take(count).enumerate().rev();
    let mut of_object = starts.filter(|(_, start)| start.get() == object.start);
    let (found, _) = of_object.find(|(number, _)| shows(run, *number as u32, object))?;
    recent.set((object.start, found as u32 + 1));
    Some(found as u32)
}

/// Whether an object is still what an address leads to, and as a snapshot of it shows, without
/// labels.
pub(crate) fn is_as_shown(run: &Run, number: u32, object: &Object, address: usize) -> bool {
    let is_there = objects::find(run, address)
        .is_some_and(|found| (found.start, found.size) == (object.start, object.size));
    is_there && shows(run, number, object) && !shadow::any_label(object.start, object.size)
}

/// Whether a snapshot of memory at the object's start shows the object as it is now, without
/// labels.
fn shows(run: &Run, number: u32, object: &Object) -> bool {
    let table = run.segment.table(number);
    table.len as usize == object.size
        && table.labels == u32::MAX
        && (object.constant || same_bytes(run, &table, object))
}

/// Whether a table of the object's size has its bytes.
fn same_bytes(run: &Run, table: &Table, object: &Object) -> bool {
    memory::are_equal(run.segment.data(table.data) as usize, object.start, object.size)
}

/// Makes room in the trace; returns where it begins.
pub(crate) fn reserve_data(run: &Run, size: usize) -> Option<u32> {
    let at = run.segment.data_len();
    let end = at as u64 + (size as u64).next_multiple_of(4);
    if end > run.segment.data_cap() || end > u32::MAX as u64 {
        run.segment.count_give_up(GiveUp::TraceFull);
        return None;
    }
    run.segment.set_data_len(end as u32);
    Some(at)
}

/// Copies bytes into the trace; returns where they begin.
pub(crate) fn copy_bytes(run: &Run, start: usize, size: usize) -> Option<u32> {
    let at = reserve_data(run, size)?;
    // SAFETY: the room was just made, and the bytes are the target's own.
    unsafe { os::memcpy(run.segment.data(at).cast(), start as *const _, size) };
    Some(at)
}

/// The same for the labels of bytes.
pub(crate) fn copy_labels(run: &Run, start: usize, size: usize) -> Option<u32> {
    let at = reserve_data(run, size * 4)?;
    let labels = run.segment.data(at).cast::<u32>();
    for i in 0..size {
        let label = shadow::label_of_byte(run, start + i);
        let label = if repetitions::is_filler(run, label) { 0 } else { label };
        // SAFETY: the room for so many labels was just made, at a multiple of their size.
        unsafe { *labels.add(i) = label };
    }
    Some(at)
}

/// Labels of a store of `size` bytes with label `label` at `address`, whose label is `la`. Called
/// before the program's own store, because the bytes that are *not* written keep their old values.
#[unsafe(no_mangle)]
#[cold]
pub extern "C" fn __tg_store_at(
    address: usize,
    la: Label,
    label: Label,
    value: u64,
    size: usize,
    start: usize,
    object_size: usize,
    site: u32,
) {
    let run = Run::current();
    if la == 0 || facts::is_fixed(run, la) {
        return shadow::store_plainly(address, label, size);
    }
    let Some(_entered) = state::enter(run) else { return };
    let la = if budget::concretises_address(run, la) { 0 } else { without_if_constant(run, la) };
    let concretised = if la == 0 { 0 } else { repetitions::concretised(run, la) };
    let access = Access { address, size, start, object_size, site };
    if concretised == 0 || !spread_write(run, &access, concretised, Value::new(label, value)) {
        events::concretise(run, la, ConcretiseReason::WriteAddress, site);
        set_label(run, address, label, size);
    }
}

/// Gives the bytes of a value its label, or none.
fn set_label(run: &Run, address: usize, label: Label, size: usize) {
    for i in 0..size {
        shadow::set_entry(run, address + i, if label == 0 { 0 } else { shadow::part(label, i) });
    }
}

/// Gives every element of a small object the expression "the new value if the address is mine, else
/// the old one".
fn spread_write(run: &Run, access: &Access, la: Label, new: Value) -> bool {
    let &Access { address, size, site, .. } = access;
    if nodes::value(run, la) != address as u64 {
        return false;
    }
    let Some(object) = access.object(run) else {
        checks::pointer(run, la, address, site);
        return false;
    };
    let offset = offset_in(run, &object, la, address);
    check_bounds(run, &object, offset, size, site);
    if size == 0 || size > 8 || !contains(&object, address, size) {
        return false;
    }
    let elements = object.size / size;
    let aligned =
        address.wrapping_sub(object.start).is_multiple_of(size) && object.size.is_multiple_of(size);
    let spent = run.snapshots.spent.get();
    let spread = spent.spread + elements;
    let is_small = elements <= MAX_WRITE && spread <= MAX_SPREAD;
    if !is_small || !aligned || object.constant || offset.label == 0 {
        return false;
    }
    run.snapshots.spent.set(Spent { spread, ..spent });
    for i in 0..elements {
        write_element(run, object.start + i * size, offset, (i * size) as u64, new, size);
    }
    true
}

fn write_element(run: &Run, at: usize, offset: Value, here: u64, new: Value, size: usize) {
    let bits = size as u32 * 8;
    let old_value = shadow::read_value(at, size);
    let old = Value::new(shadow_label(run, at, size, old_value), old_value);
    let hit = build::binary(run, Op::Eq, 64, offset, Value::concrete(here));
    let written = Value::new(hit, (offset.value == here) as u64);
    set_label(run, at, build::ite(run, bits, written, new, old), size);
}
