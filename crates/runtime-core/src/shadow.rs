//! Labels of memory: a two-level page table over the address space, one entry a byte.
//!
//! `TABLE[address >> 16]` is null while no byte of those 64 KiB ever had a label, which is what the
//! fast paths test. An entry is a label and, in its top bits, which byte of that label's value it
//! stands for; so a value that is stored and loaded again keeps its label without new expressions.

use crate::build::Value;
use crate::memory::byte;
use crate::state::{self, Run};
use crate::{budget, nodes, os, shapes};
use core::cell::Cell;
use core::ops::Range;
use core::ptr::null_mut;
use trace::{GiveUp, Label};

/// Fixed place of the first-level table: an address range that Linux leaves free with and without
/// address space randomisation.
const TABLE: *mut *mut u32 = FIRST_ADDRESS as *mut *mut u32;
const TABLE_BYTES: usize = 8 << (47 - PAGE_BITS);
const POOL: usize = 0x2800_0000_0000;
const POOL_BYTES: usize = 16 << 30;
pub const PAGE_BITS: u32 = 16;
const PAGE: usize = 1 << PAGE_BITS;
/// The entries of one page, and a little more: a power of two would bring all leaves into the same
/// sets of the cache.
const LEAF_BYTES: usize = PAGE * 4 + 4096;
/// Entries of a page of memory.
const PIECE: usize = 1024;

/// Bytes of the largest value that is loaded in one piece.
const MAX_LOADED: usize = 16;

const BYTE_SHIFT: u32 = 28;
const LABEL_MASK: u32 = (1 << BYTE_SHIFT) - 1;

pub const RESERVED: usize = TABLE_BYTES + POOL_BYTES;
/// The runtime's fixed places are from here on, up to
/// [`objects::LAST_ADDRESS`](crate::objects::LAST_ADDRESS).
pub const FIRST_ADDRESS: usize = 0x2000_0000_0000;

/// Pages that are known by number: enough to make all memory of a small run concrete again.
const MAX_KEPT: usize = 64;

pub struct Shadow {
    /// Bytes of the pool that leaves have.
    pool_used: Cell<usize>,
    /// Which pages have leaves, the first ones.
    pages: [Cell<usize>; MAX_KEPT],
    /// A bit for each [`PIECE`] of their entries that had a label.
    touched: [Cell<u64>; MAX_KEPT],
}

impl Shadow {
    pub const NEW: Shadow = Shadow {
        pool_used: Cell::new(0),
        pages: [const { Cell::new(0) }; MAX_KEPT],
        touched: [const { Cell::new(0) }; MAX_KEPT],
    };
}

/// Reserves the address ranges; false if the kernel refuses.
pub fn reserve() -> bool {
    os::reserve(TABLE as usize, TABLE_BYTES) && os::reserve(POOL, POOL_BYTES)
}

/// Before the first run: the table's pages for the program, its libraries and its stack are there,
/// so that runs do not fault on each twice, once to read and once to write.
pub fn prepare(run: &Run) {
    let here = 0u8;
    for address in [(&raw const here) as usize, os::errno() as usize, (&raw const *run) as usize] {
        // SAFETY: the table is reserved, and empty before the first run.
        unsafe { slot(address).write_volatile(null_mut()) };
    }
}

/// Where the table keeps the leaf of the page at an address.
#[inline(always)]
fn slot(address: usize) -> *mut *mut u32 {
    TABLE.wrapping_add(address >> PAGE_BITS)
}

/// Null while the page has none.
#[inline(always)]
fn leaf(address: usize) -> *mut u32 {
    // SAFETY: the table has a place for each page of a process's address space.
    unsafe { *TABLE.add(address >> PAGE_BITS) }
}

#[inline(always)]
fn in_leaf(address: usize) -> usize {
    address & (PAGE - 1)
}

/// Whether an access goes on in the next page, which has entries of its own.
#[inline(always)]
fn crosses(address: usize, size: usize) -> bool {
    in_leaf(address) > PAGE - size
}

/// True if no byte of the page at `address` has ever had a label.
#[inline(always)]
pub fn page_is_concrete(address: usize) -> bool {
    leaf(address).is_null()
}

/// The leaf of the page at `address`, new if need be; null if there is no room for it.
#[cold]
fn leaf_for_writing(run: &Run, address: usize) -> *mut u32 {
    let known = leaf(address);
    if !known.is_null() {
        return known;
    }
    let used = run.shadow.pool_used.get();
    if used + LEAF_BYTES > POOL_BYTES {
        return null_mut();
    }
    let new = (POOL + used) as *mut u32;
    // SAFETY: as in `leaf`; the guard is held, so nobody else adds a leaf.
    unsafe { *slot(address) = new };
    if let Some(page) = run.shadow.pages.get(used / LEAF_BYTES) {
        page.set(address >> PAGE_BITS);
    }
    run.shadow.pool_used.set(used + LEAF_BYTES);
    new
}

/// A run ends: makes all memory concrete; false if a new process is cheaper.
pub fn reset(run: &Run) -> bool {
    let shadow = &run.shadow;
    let Some(pages) = shadow.pages.get(..shadow.pool_used.get() / LEAF_BYTES) else { return false };
    for (page, touched) in pages.iter().zip(&shadow.touched) {
        let address = page.get() << PAGE_BITS;
        empty_pieces(leaf(address), touched.take());
        // SAFETY: the page has a leaf, so the table has a place for it.
        unsafe { *slot(address) = null_mut() };
    }
    shadow.pool_used.set(0);
    true
}

/// Zeroes the pieces. Their memory stays: to get each page again would cost the next run a fault.
fn empty_pieces(leaf: *mut u32, mut touched: u64) {
    while touched != 0 {
        let piece = touched.trailing_zeros() as usize;
        // SAFETY: the leaf has an entry for each byte of a page, which are as many pieces as
        // `touched` has bits.
        unsafe { os::memset(leaf.add(piece * PIECE).cast(), 0, PIECE * size_of::<u32>()) };
        touched &= touched - 1;
    }
}

/// Entries of the piece with this address are about to be written.
fn touch(run: &Run, leaf: *mut u32, address: usize) {
    if let Some(touched) = run.shadow.touched.get((leaf as usize - POOL) / LEAF_BYTES) {
        touched.update(|touched| touched | 1 << (in_leaf(address) / PIECE));
    }
}

/// The entry of one byte; 0 if it is concrete.
#[inline]
pub fn entry(address: usize) -> u32 {
    let leaf = leaf(address);
    // SAFETY: a leaf has an entry for each byte of its page.
    if leaf.is_null() { 0 } else { unsafe { *leaf.add(in_leaf(address)) } }
}

pub fn set_entry(run: &Run, address: usize, entry: u32) {
    let mut leaf = leaf(address);
    if leaf.is_null() {
        if entry == 0 {
            return;
        }
        leaf = leaf_for_writing(run, address);
        if leaf.is_null() {
            return run.segment.count_give_up(GiveUp::TraceFull);
        }
    }
    touch(run, leaf, address);
    // SAFETY: the leaf is that of the byte's page.
    unsafe { *leaf.add(in_leaf(address)) = entry };
}

/// The entry of byte `index` of a value.
pub const fn part(label: Label, index: usize) -> u32 {
    label | (index as u32) << BYTE_SHIFT
}

/// The 8-bit label that an entry stands for.
pub fn byte_label(run: &Run, entry: u32, value: u8) -> Label {
    let label = entry & LABEL_MASK;
    if label == 0 || nodes::bits(run, label) == 8 {
        return label;
    }
    nodes::extract(run, label, (entry >> BYTE_SHIFT) * 8, 8, value as u64)
}

/// Label of the byte at `address`, or 0 if it is concrete or its label does not fit its value.
pub fn label_of_byte(run: &Run, address: usize) -> Label {
    let entry = entry(address);
    if entry == 0 {
        return 0;
    }
    let value = byte(address);
    if shapes::is_byte(run, entry, value as u64) {
        return entry;
    }
    let label = byte_label(run, entry, value);
    if label != 0 && nodes::value(run, label) != value as u64 {
        set_entry(run, address, 0);
        run.segment.count_give_up(GiveUp::Stale);
        return 0;
    }
    label
}

/// Label of the `size` bytes at `address` as one little-endian value. Out of line and without the
/// run among its arguments, since the loads below are part of every load of the program.
#[cold]
#[inline(never)]
fn load(address: usize, size: usize, value: u64) -> Label {
    let run = Run::current();
    let first = entry(address);
    if shapes::has_value(run, first, size as u32 * 8, value)
        && is_whole(address, size, first)
        && !budget::is_fixed_byte(run, first)
    {
        return first;
    }
    let Some(_entered) = state::enter(run) else { return 0 };
    loaded(run, address, size, value)
}

/// As [`load`] of one byte that is none of the input, or one that the path fixes.
#[cold]
#[inline(never)]
extern "C" fn load_byte(address: usize, value: u64, entry: u32) -> Label {
    let run = Run::current();
    if shapes::has_value(run, entry, 8, value) {
        if budget::is_fixed_byte(run, entry) {
            drop_entry(address);
            return 0;
        }
        return entry;
    }
    load(address, 1, value)
}

/// The byte's label is not followed any more.
#[cold]
fn drop_entry(address: usize) {
    // SAFETY: the byte has an entry, so its page has a leaf.
    unsafe { *leaf(address).add(in_leaf(address)) = 0 };
}

/// As `load`, with the guard held.
pub fn loaded(run: &Run, address: usize, size: usize, value: u64) -> Label {
    let label = whole(run, address, size).unwrap_or_else(|| concat_bytes(run, address, size));
    if label == 0 || nodes::value(run, label) == value {
        if budget::concretises_loaded(run, label) {
            clear(address, size);
            return 0;
        }
        return label;
    }
    clear(address, size);
    run.segment.count_give_up(GiveUp::Stale);
    0
}

/// The label whose value (or a part of it) was stored here in one piece.
fn whole(run: &Run, address: usize, size: usize) -> Option<Label> {
    let first = entry(address);
    let label = first & LABEL_MASK;
    if label == 0 || !is_whole(address, size, first) {
        return None;
    }
    let from = first >> BYTE_SHIFT;
    let bits = nodes::bits(run, label);
    if from == 0 && bits as usize == size * 8 {
        return Some(label);
    }
    if from as usize * 8 + size * 8 > bits as usize || size > 8 {
        return None;
    }
    Some(nodes::extract(run, label, from * 8, size as u32 * 8, read_value(address, size)))
}

/// Whether the entries go on from the first, which is not 0, as those of one value do.
#[inline(always)]
fn is_whole(address: usize, size: usize, first: u32) -> bool {
    let follows = |i: usize, entry: u32| entry == first.wrapping_add((i as u32) << BYTE_SHIFT);
    if crosses(address, size) {
        return (1..size).all(|i| follows(i, entry(address + i)));
    }
    let leaf = leaf(address);
    // SAFETY: the first byte has an entry, so there is a leaf, and the others are in it, too.
    (1..size).all(|i| follows(i, unsafe { *leaf.add(in_leaf(address) + i) }))
}

/// Up to 8 bytes of memory as a little-endian value.
pub fn read_value(address: usize, size: usize) -> u64 {
    (0..size.min(8)).fold(0, |value, i| value | u64::from(byte(address + i)) << (8 * i))
}

fn are_of_one_byte(run: &Run, labels: &[Label]) -> bool {
    let labels = labels.iter().filter(|label| **label != 0);
    let mut places = labels.map(|label| shapes::split(run, *label).map(|at| at.place));
    let first = places.next().flatten();
    first.is_some() && places.all(|place| place == first)
}

fn concat_bytes(run: &Run, address: usize, size: usize) -> Label {
    let mut labels = [0; MAX_LOADED];
    let Some(labels) = labels.get_mut(..size) else { return 0 };
    for (i, label) in labels.iter_mut().enumerate() {
        *label = label_of_byte(run, address + i);
    }
    if labels.iter().all(|label| *label == 0) {
        return 0;
    }
    if budget::is_spent(run) && !are_of_one_byte(run, labels) {
        labels.iter().for_each(|label| budget::concretise(run, *label));
        return 0;
    }
    let mut low = 0;
    for (i, label) in labels.iter().enumerate() {
        let byte = Value::new(*label, byte(address + i) as u64).node(run, 8);
        low = if i == 0 {
            byte
        } else {
            nodes::concat(run, byte, low, (i as u32 + 1) * 8, read_value(address, i + 1))
        };
        if low == 0 {
            return 0;
        }
    }
    low
}

/// Gives the `size` bytes at `address` the label of a value of that size.
pub fn store(run: &Run, address: usize, label: Label, size: usize) {
    let Some(_entered) = state::enter(run) else { return };
    let leaf = leaf(address);
    if leaf.is_null() || in_leaf(address) % PIECE + size > PIECE {
        return (0..size).for_each(|i| set_entry(run, address + i, part(label, i)));
    }
    touch(run, leaf, address);
    for i in 0..size {
        // SAFETY: all bytes are in one piece of the leaf's page.
        unsafe { *leaf.add(in_leaf(address) + i) = part(label, i) };
    }
}

/// As [`store`], for the stores below.
#[cold]
#[inline(never)]
fn store_slow(address: usize, label: Label, size: usize) {
    store(Run::current(), address, label, size);
}

/// The parts of a range that lie in one page each: address and size.
fn pieces(address: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    let end = address.saturating_add(size);
    let mut at = address;
    core::iter::from_fn(move || {
        let piece = (at, (PAGE - in_leaf(at)).min(end - at));
        at += piece.1;
        (piece.1 != 0).then_some(piece)
    })
}

/// The entries of a range within one page; `None` if none of the page's bytes ever had a label.
/// They are looked at before any is written.
#[inline(always)]
fn entries<'a>(at: usize, size: usize) -> Option<&'a [u32]> {
    let leaf = leaf(at);
    // SAFETY: the range ends within the leaf's page.
    (!leaf.is_null()).then(|| unsafe { core::slice::from_raw_parts(leaf.add(in_leaf(at)), size) })
}

#[inline(always)]
fn any_set(entries: &[u32]) -> bool {
    // Many at a time, because most are 0.
    let (many, rest) = entries.as_chunks::<64>();
    let (few, rest) = rest.as_chunks::<8>();
    for chunk in many {
        if chunk.iter().fold(0, |any, entry| any | entry) != 0 {
            return true;
        }
    }
    let of_few = few.iter().fold([0; 8], |any, chunk| core::array::from_fn(|i| any[i] | chunk[i]));
    let of_rest = rest.iter().fold(0, |any, entry| any | entry);
    of_few.iter().fold(of_rest, |any, entry| any | entry) != 0
}

/// Makes bytes concrete.
pub fn clear(address: usize, size: usize) {
    for (at, size) in pieces(address, size) {
        let leaf = leaf(at);
        if !leaf.is_null() {
            // SAFETY: the piece ends within the leaf's page.
            unsafe { os::memset(leaf.add(in_leaf(at)).cast(), 0, size * size_of::<u32>()) };
        }
    }
}

/// True if a byte of the range may have a label. Mostly the range lies in one page.
#[inline(always)]
pub fn any_label(address: usize, size: usize) -> bool {
    if in_leaf(address).saturating_add(size) <= PAGE {
        return entries(address, size).is_some_and(any_set);
    }
    any_label_in_pages(address, size)
}

#[cold]
fn any_label_in_pages(address: usize, size: usize) -> bool {
    pieces(address, size).any(|(at, size)| entries(at, size).is_some_and(any_set))
}

/// The first byte of a range that may have a label, which can be far from its start: what never had
/// labels costs nothing.
pub fn next_label(run: &Run, range: Range<usize>) -> Option<usize> {
    let last = range.end.checked_sub(1)? >> PAGE_BITS;
    let mut at = range.start;
    while at < range.end {
        let page = next_leaf(run, at >> PAGE_BITS, last)?;
        let end = range.end.min((page + 1) << PAGE_BITS);
        let found = label_in_page(run, at.max(page << PAGE_BITS), end);
        if found.is_some() {
            return found;
        }
        at = end;
    }
    None
}

/// The number of the first page with a leaf.
fn next_leaf(run: &Run, first: usize, last: usize) -> Option<usize> {
    let shadow = &run.shadow;
    let is_within = |page: &usize| (first..=last).contains(page);
    match shadow.pages.get(..shadow.pool_used.get() / LEAF_BYTES) {
        Some(known) => known.iter().map(Cell::get).filter(is_within).min(),
        None => (first..=last).find(|page| !page_is_concrete(page << PAGE_BITS)),
    }
}

/// As [`next_label`], within one page that has a leaf.
fn label_in_page(run: &Run, from: usize, end: usize) -> Option<usize> {
    let leaf = (leaf(from) as usize - POOL) / LEAF_BYTES;
    let touched = run.shadow.touched.get(leaf).map_or(u64::MAX, Cell::get);
    let mut at = from;
    while at < end {
        let next = end.min((at / PIECE + 1) * PIECE);
        let is_touched = touched >> (in_leaf(at) / PIECE) & 1 != 0;
        let labels = entries(at, next - at).filter(|entries| is_touched && any_set(entries));
        if let Some(first) = labels.and_then(|labels| labels.iter().position(|entry| *entry != 0)) {
            return Some(at + first);
        }
        at = next;
    }
    None
}

/// Whether the byte has a label that stands for its value.
pub fn is_believed(run: &Run, address: usize) -> bool {
    let entry = entry(address);
    let (label, index) = (entry & LABEL_MASK, entry >> BYTE_SHIFT);
    // Of a value of 128 bits the low half is known.
    label != 0 && (index >= 8 || (nodes::value(run, label) >> (index * 8)) as u8 == byte(address))
}

/// Copies the entries of the bytes from `address` on, as many as there is room for.
pub fn save_entries(address: usize, to: &mut [u32]) {
    for (at, size) in pieces(address, to.len()) {
        let Some(to) = to.get_mut(at - address..).and_then(|to| to.get_mut(..size)) else { return };
        match entries(at, size) {
            // Of the same length.
            Some(entries) => to.iter_mut().zip(entries).for_each(|(to, entry)| *to = *entry),
            None => to.fill(0),
        }
    }
}

/// Whether the bytes from `address` on have the entries that were saved.
pub fn has_entries(address: usize, saved: &[u32]) -> bool {
    pieces(address, saved.len()).all(|(at, size)| {
        let saved = saved.get(at - address..).and_then(|saved| saved.get(..size)).unwrap_or(&[]);
        entries(at, size).map_or_else(|| !any_set(saved), |entries| entries == saved)
    })
}

/// Whether a copy from one place to another brings no label and covers none. Most copies are of
/// small structs without labels, on pages that have some.
#[inline(always)]
pub fn copies_nothing(to: usize, from: usize, size: usize) -> bool {
    has_no_label(from, size) && has_no_label(to, size)
}

/// False if a byte of the range may have a label.
#[inline(always)]
fn has_no_label(address: usize, size: usize) -> bool {
    if in_leaf(address) + size > PAGE {
        return !any_label(address, size);
    }
    entries(address, size).is_none_or(|entries| !any_set(entries))
}

/// Copies labels as `memmove` copies bytes.
pub fn copy(run: &Run, to: usize, from: usize, size: usize) {
    if to + size <= from || from + size <= to {
        let mut done = 0;
        while done < size {
            let room = |at: usize| PAGE - in_leaf(at + done);
            let part = room(to).min(room(from)).min(size - done);
            copy_apart(run, to + done, from + done, part);
            done += part;
        }
    } else if to <= from {
        for i in 0..size {
            set_entry(run, to + i, entry(from + i));
        }
    } else {
        for i in (0..size).rev() {
            set_entry(run, to + i, entry(from + i));
        }
    }
}

/// The same for places that lie in a page each and have nothing in common.
fn copy_apart(run: &Run, to: usize, from: usize, size: usize) {
    let Some(entries) = entries(from, size).filter(|entries| any_set(entries)) else {
        return clear(to, size);
    };
    let leaf = match leaf(to) {
        leaf if leaf.is_null() => leaf_for_writing(run, to),
        leaf => leaf,
    };
    if leaf.is_null() {
        return run.segment.count_give_up(GiveUp::TraceFull);
    }
    // SAFETY: both ranges end within their pages and do not overlap, nor do their entries.
    unsafe {
        os::memcpy(leaf.add(in_leaf(to)).cast(), entries.as_ptr().cast(), size_of_val(entries))
    };
    for piece in in_leaf(to) / PIECE..=in_leaf(to + size - 1) / PIECE {
        touch(run, leaf, piece * PIECE);
    }
}

/// As the loads below, where a value goes on in the next page. Out of line, since they are part of
/// every load of the program.
#[cold]
#[inline(never)]
extern "C" fn load_across(address: usize, value: u64, size: usize) -> Label {
    __tg_load_sized(address, value, size)
}

/// As [`clear`], for the stores below.
#[cold]
#[inline(never)]
extern "C" fn clear_across(address: usize, size: usize) {
    clear(address, size);
}

/// Label of a byte that was just loaded.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_load1(address: usize, value: u64) -> Label {
    let run = Run::current();
    let entry = entry(address);
    if entry == 0 || shapes::is_byte(run, entry, value) && !budget::is_spent(run) {
        return entry;
    }
    load_byte(address, value, entry)
}

macro_rules! loads {
    ($($size:literal $load:ident $entries:ty),*) => {$(
        /// Label of a value that was just loaded.
        #[unsafe(no_mangle)]
        pub extern "C" fn $load(address: usize, value: u64) -> Label {
            if crosses(address, $size) {
                return load_across(address, value, $size);
            }
            let leaf = leaf(address);
            if leaf.is_null() {
                return 0;
            }
            // SAFETY: the value is within the leaf's page, and has one entry a byte.
            let entries = unsafe { leaf.add(in_leaf(address)).cast::<$entries>().read_unaligned() };
            if entries == 0 { 0 } else { load(address, $size, value) }
        }
    )*};
}

loads!(2 __tgi_load2 u64, 4 __tgi_load4 u128);

macro_rules! stores {
    ($($size:literal $store:ident $entries:ty),*) => {$(
        /// Notes the label of a value that was just stored.
        #[unsafe(no_mangle)]
        pub extern "C" fn $store(address: usize, label: Label) {
            if label != 0 {
                return store_slow(address, label, $size);
            }
            if crosses(address, $size) {
                return clear_across(address, $size);
            }
            let leaf = leaf(address);
            if !leaf.is_null() {
                // SAFETY: the value is within the leaf's page, and has one entry a byte.
                unsafe { leaf.add(in_leaf(address)).cast::<$entries>().write_unaligned(0) };
            }
        }
    )*};
}

stores!(1 __tgi_store1 u32, 2 __tgi_store2 u64, 4 __tgi_store4 u128);

/// Label of an 8-byte value that was just loaded.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_load8(address: usize, value: u64) -> Label {
    if crosses(address, 8) {
        return load_across(address, value, 8);
    }
    let leaf = leaf(address);
    if leaf.is_null() {
        return 0;
    }
    // SAFETY: the value is within the leaf's page, and its 8 entries are two of these numbers.
    let any = unsafe {
        let entries = leaf.add(in_leaf(address)).cast::<u128>();
        entries.read_unaligned() | entries.add(1).read_unaligned()
    };
    if any == 0 { 0 } else { load(address, 8, value) }
}

/// Notes the label of an 8-byte value that was just stored.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_store8(address: usize, label: Label) {
    if label != 0 {
        return store_slow(address, label, 8);
    }
    if crosses(address, 8) {
        return clear_across(address, 8);
    }
    let leaf = leaf(address);
    if !leaf.is_null() {
        // SAFETY: as for loads of this size.
        unsafe {
            let entries = leaf.add(in_leaf(address)).cast::<u128>();
            entries.write_unaligned(0);
            entries.add(1).write_unaligned(0);
        }
    }
}

/// Label of a value that was just loaded from a place that does not depend on the input.
#[inline(always)]
pub fn load_plainly(address: usize, size: usize, value: u64) -> Label {
    match size {
        1 => __tgi_load1(address, value),
        4 => __tgi_load4(address, value),
        8 => __tgi_load8(address, value),
        _ => __tg_load_sized(address, value, size),
    }
}

/// Notes the label of a value that is stored at a place that does not depend on the input.
#[inline(always)]
pub fn store_plainly(address: usize, label: Label, size: usize) {
    match size {
        1 => __tgi_store1(address, label),
        4 => __tgi_store4(address, label),
        8 => __tgi_store8(address, label),
        _ => __tg_store_sized(address, label, size),
    }
}

/// Label of a loaded value of unusual size (up to 16 bytes); `value` is its low part.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_load_sized(address: usize, value: u64, size: usize) -> Label {
    if any_label(address, size) { load(address, size, value) } else { 0 }
}

#[unsafe(no_mangle)]
pub extern "C" fn __tg_store_sized(address: usize, label: Label, size: usize) {
    if label != 0 { store_slow(address, label, size) } else { clear(address, size) }
}

/// Bytes of an object that is made concrete without a call.
const FEW: usize = 32;

/// Makes an object concrete: a stack object that comes to life.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_clear(address: usize, size: usize) {
    let (first, last) = (leaf(address), leaf(address.wrapping_add(size.wrapping_sub(1))));
    if size <= FEW && first == last {
        if !first.is_null() {
            // SAFETY: the first and the last byte have one leaf, so all do.
            unsafe { os::memset(first.add(in_leaf(address)).cast(), 0, size * size_of::<u32>()) };
        }
    } else if !(first.is_null() && last.is_null() && size <= PAGE) {
        clear(address, size);
    }
}

/// A value whose labels are not followed was loaded.
#[unsafe(no_mangle)]
pub extern "C" fn __tg_untracked_load(address: usize, size: usize, reason: u32) {
    if any_label(address, size) {
        let reason = GiveUp::from_byte(reason as u16).unwrap_or(GiveUp::Vector);
        Run::current().segment.count_give_up(reason);
    }
}
