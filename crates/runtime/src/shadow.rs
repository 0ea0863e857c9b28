//! Labels of memory: a two-level page table over the address space, one entry a byte.
//!
//! `TABLE[address >> 16]` is null while no byte of those 64 KiB ever had a label, which is what the fast paths
//! test. An entry is a label and, in its top bits, which byte of that label's value it stands for; so a
//! value that is stored and loaded again keeps its label without new expressions.

use crate::build::Value;
use crate::{budget, nodes, os, shapes, state};
use trace::{GiveUp, Label};

/// Fixed place of the first-level table: an address range that Linux leaves free with and without address space
/// randomisation.
const TABLE: *mut *mut u32 = FIRST_ADDRESS as *mut *mut u32;
const TABLE_BYTES: usize = 8 << (47 - PAGE_BITS);
const POOL: usize = 0x2800_0000_0000;
const POOL_BYTES: usize = 16 << 30;
pub const PAGE_BITS: u32 = 16;
const PAGE: usize = 1 << PAGE_BITS;
/// The entries of one page, and a little more: a power of two would bring all leaves into the same sets of the cache.
const LEAF_BYTES: usize = PAGE * 4 + 4096;
/// Entries of a page of memory.
const PIECE: usize = 1024;

/// Bytes of the largest value that is loaded in one piece.
const MOST_LOADED: usize = 16;

const BYTE_SHIFT: u32 = 28;
const LABEL_MASK: u32 = (1 << BYTE_SHIFT) - 1;

pub const RESERVED: usize = TABLE_BYTES + POOL_BYTES;
/// The runtime's fixed places are from here on, up to [`objects::LAST_ADDRESS`](crate::objects::LAST_ADDRESS).
pub const FIRST_ADDRESS: usize = 0x2000_0000_0000;

static mut POOL_USED: usize = 0;

/// Which pages have leaves, the first ones: enough to forget all labels of a small run.
const MOST_KEPT: usize = 64;
static mut PAGES: [usize; MOST_KEPT] = [0; MOST_KEPT];
/// A bit for each [`PIECE`] of their entries that had a label.
static mut TOUCHED: [u64; MOST_KEPT] = [0; MOST_KEPT];

/// Reserves the address ranges; false if the kernel refuses.
pub unsafe fn reserve() -> bool {
    unsafe { os::reserve(TABLE as usize, TABLE_BYTES) && os::reserve(POOL, POOL_BYTES) }
}

/// Before the first run: the table's pages for the program, its libraries and its stack are there, so that runs do not fault on
/// each twice, once to read and once to write.
pub unsafe fn prepare() {
    unsafe {
        let here = 0u8;
        for address in [(&raw const here) as usize, os::errno() as usize, (&raw const POOL_USED) as usize] {
            TABLE.add(address >> PAGE_BITS).write_volatile(core::ptr::null_mut());
        }
    }
}

#[inline(always)]
unsafe fn leaf(address: usize) -> *mut u32 {
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
pub unsafe fn page_is_concrete(address: usize) -> bool {
    unsafe { leaf(address).is_null() }
}

#[cold]
unsafe fn leaf_for_writing(address: usize) -> *mut u32 {
    unsafe {
        let slot = TABLE.add(address >> PAGE_BITS);
        if (*slot).is_null() {
            if POOL_USED + LEAF_BYTES > POOL_BYTES {
                return core::ptr::null_mut();
            }
            *slot = (POOL + POOL_USED) as *mut u32;
            if let Some(page) = PAGES.get_mut(POOL_USED / LEAF_BYTES) {
                *page = address >> PAGE_BITS;
            }
            POOL_USED += LEAF_BYTES;
        }
        *slot
    }
}

/// Makes all memory concrete; false if a new process is cheaper.
pub unsafe fn forget() -> bool {
    unsafe {
        let Some(pages) = PAGES.get(..POOL_USED / LEAF_BYTES) else { return false };
        for (&page, touched) in pages.iter().zip(&mut TOUCHED) {
            empty_pieces(*TABLE.add(page), touched);
            *TABLE.add(page) = core::ptr::null_mut();
        }
        POOL_USED = 0;
        true
    }
}

/// Zeroes the pieces. Their memory stays: to get each page again would cost the next run a fault.
unsafe fn empty_pieces(leaf: *mut u32, touched: &mut u64) {
    unsafe {
        while *touched != 0 {
            let piece = touched.trailing_zeros() as usize;
            os::memset(leaf.add(piece * PIECE).cast(), 0, PIECE * size_of::<u32>());
            *touched &= *touched - 1;
        }
    }
}

unsafe fn touch(leaf: *mut u32, address: usize) {
    unsafe {
        if let Some(touched) = TOUCHED.get_mut((leaf as usize - POOL) / LEAF_BYTES) {
            *touched |= 1 << (in_leaf(address) / PIECE);
        }
    }
}

/// The entry of one byte; 0 if it is concrete.
#[inline]
pub unsafe fn entry(address: usize) -> u32 {
    unsafe {
        let leaf = leaf(address);
        if leaf.is_null() { 0 } else { *leaf.add(in_leaf(address)) }
    }
}

pub unsafe fn set_entry(address: usize, entry: u32) {
    unsafe {
        let mut leaf = leaf(address);
        if leaf.is_null() {
            if entry == 0 {
                return;
            }
            leaf = leaf_for_writing(address);
            if leaf.is_null() {
                return state::count_give_up(GiveUp::TraceFull);
            }
        }
        touch(leaf, address);
        *leaf.add(in_leaf(address)) = entry;
    }
}

/// The entry of byte `index` of a value.
pub const fn part(label: Label, index: usize) -> u32 {
    label | (index as u32) << BYTE_SHIFT
}

/// The 8-bit label that an entry stands for.
pub unsafe fn byte_label(entry: u32, value: u8) -> Label {
    unsafe {
        let label = entry & LABEL_MASK;
        if label == 0 || nodes::bits(label) == 8 {
            return label;
        }
        nodes::extract(label, (entry >> BYTE_SHIFT) * 8, 8, value as u64)
    }
}

/// Label of the byte at `address`, or 0 if it is concrete or its label does not fit its value.
pub unsafe fn label_of_byte(address: usize) -> Label {
    unsafe {
        let entry = entry(address);
        if entry == 0 {
            return 0;
        }
        let value = *(address as *const u8);
        if shapes::is_byte(entry, value as u64) {
            return entry;
        }
        let label = byte_label(entry, value);
        if label != 0 && nodes::value(label) != value as u64 {
            set_entry(address, 0);
            state::count_give_up(GiveUp::Stale);
            return 0;
        }
        label
    }
}

/// Label of the `size` bytes at `address` as one little-endian value.
#[cold]
#[inline(never)]
pub unsafe fn load(address: usize, size: usize, value: u64) -> Label {
    unsafe {
        let first = entry(address);
        if shapes::has_value(first, size as u32 * 8, value)
            && is_whole(address, size, first)
            && !budget::is_fixed_byte(first)
        {
            return first;
        }
        let Some(_entered) = state::enter() else { return 0 };
        loaded(address, size, value)
    }
}

/// As [`load`] of one byte that is none of the input, or one that the path fixes.
#[cold]
#[inline(never)]
unsafe extern "C" fn load_byte(address: usize, value: u64, entry: u32) -> Label {
    unsafe {
        if shapes::has_value(entry, 8, value) {
            if budget::is_fixed_byte(entry) {
                forget_byte(address);
                return 0;
            }
            return entry;
        }
        load(address, 1, value)
    }
}

/// The byte's label is not followed any more.
#[cold]
unsafe fn forget_byte(address: usize) {
    unsafe { *leaf(address).add(in_leaf(address)) = 0 };
}

/// As [`load`], with the guard held.
pub unsafe fn loaded(address: usize, size: usize, value: u64) -> Label {
    unsafe {
        let label = whole(address, size).unwrap_or_else(|| concat_bytes(address, size));
        if label == 0 || nodes::value(label) == value {
            if budget::settles_loaded(label) {
                clear(address, size);
                return 0;
            }
            return label;
        }
        clear(address, size);
        state::count_give_up(GiveUp::Stale);
        0
    }
}

/// The label whose value (or a part of it) was stored here in one piece.
unsafe fn whole(address: usize, size: usize) -> Option<Label> {
    unsafe {
        let first = entry(address);
        let label = first & LABEL_MASK;
        if label == 0 || !is_whole(address, size, first) {
            return None;
        }
        let from = first >> BYTE_SHIFT;
        let bits = nodes::bits(label);
        if from == 0 && bits as usize == size * 8 {
            return Some(label);
        }
        if from as usize * 8 + size * 8 > bits as usize || size > 8 {
            return None;
        }
        Some(nodes::extract(label, from * 8, size as u32 * 8, read_value(address, size)))
    }
}

/// Whether the entries go on from the first as those of one value do.
#[inline(always)]
unsafe fn is_whole(address: usize, size: usize, first: u32) -> bool {
    unsafe {
        let follows = |i: usize, entry: u32| entry == first.wrapping_add((i as u32) << BYTE_SHIFT);
        if crosses(address, size) {
            return (1..size).all(|i| follows(i, entry(address + i)));
        }
        let entries = leaf(address).add(in_leaf(address));
        (1..size).all(|i| follows(i, *entries.add(i)))
    }
}

/// Up to 8 bytes of memory as a little-endian value.
pub unsafe fn read_value(address: usize, size: usize) -> u64 {
    let mut value = 0u64;
    for i in 0..size.min(8) {
        // SAFETY: the caller's target has just accessed these bytes.
        value |= (unsafe { *((address + i) as *const u8) } as u64) << (8 * i);
    }
    value
}

unsafe fn are_of_one_byte(labels: &[Label]) -> bool {
    let mut places = labels.iter().filter(|label| **label != 0).map(|label| {
        // SAFETY: these are labels of this run.
        unsafe { shapes::split(*label) }.map(|at| at.place)
    });
    let first = places.next().flatten();
    first.is_some() && places.all(|place| place == first)
}

unsafe fn concat_bytes(address: usize, size: usize) -> Label {
    unsafe {
        let mut labels = [0; MOST_LOADED];
        let Some(labels) = labels.get_mut(..size) else { return 0 };
        for (i, label) in labels.iter_mut().enumerate() {
            *label = label_of_byte(address + i);
        }
        if labels.iter().all(|label| *label == 0) {
            return 0;
        }
        if budget::is_spent() && !are_of_one_byte(labels) {
            labels.iter().for_each(|label| budget::settle(*label));
            return 0;
        }
        let mut low = 0;
        for (i, label) in labels.iter().enumerate() {
            let byte = Value::new(*label, *((address + i) as *const u8) as u64).node(8);
            low = if i == 0 {
                byte
            } else {
                nodes::concat(byte, low, (i as u32 + 1) * 8, read_value(address, i + 1))
            };
            if low == 0 {
                return 0;
            }
        }
        low
    }
}

/// Gives the `size` bytes at `address` the label of a value of that size.
#[cold]
#[inline(never)]
pub unsafe fn store(address: usize, label: Label, size: usize) {
    unsafe {
        let Some(_entered) = state::enter() else { return };
        let leaf = leaf(address);
        if leaf.is_null() || in_leaf(address) % PIECE + size > PIECE {
            return (0..size).for_each(|i| set_entry(address + i, part(label, i)));
        }
        touch(leaf, address);
        for i in 0..size {
            *leaf.add(in_leaf(address) + i) = part(label, i);
        }
    }
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
unsafe fn entries<'a>(at: usize, size: usize) -> Option<&'a [u32]> {
    unsafe {
        let leaf = leaf(at);
        (!leaf.is_null()).then(|| core::slice::from_raw_parts(leaf.add(in_leaf(at)), size))
    }
}

#[inline(always)]
fn any_set(entries: &[u32]) -> bool {
    // Many at a time, because most are 0.
    let (many, rest) = entries.as_chunks::<64>();
    let (few, rest) = rest.as_chunks::<8>();
    let any = |chunk: &[u32; 64]| chunk.iter().fold(0, |any, entry| any | entry) != 0;
    let of_few = few.iter().fold([0; 8], |any, chunk| core::array::from_fn(|i| any[i] | chunk[i]));
    let of_rest = rest.iter().fold(0, |any, entry| any | entry);
    many.iter().any(any) || of_few.iter().fold(of_rest, |any, entry| any | entry) != 0
}

/// Makes bytes concrete.
pub unsafe fn clear(address: usize, size: usize) {
    unsafe {
        for (at, size) in pieces(address, size) {
            let leaf = leaf(at);
            if !leaf.is_null() {
                os::memset(leaf.add(in_leaf(at)).cast(), 0, size * 4);
            }
        }
    }
}

/// True if a byte of the range may have a label.
pub unsafe fn any_label(address: usize, size: usize) -> bool {
    unsafe { pieces(address, size).any(|(at, size)| entries(at, size).is_some_and(any_set)) }
}

/// Whether the byte has a label that stands for its value.
pub unsafe fn is_believed(address: usize) -> bool {
    unsafe {
        let entry = entry(address);
        let (label, index) = (entry & LABEL_MASK, entry >> BYTE_SHIFT);
        // Of a value of 128 bits the low half is known.
        label != 0
            && (index >= 8 || (nodes::value(label) >> (index * 8)) as u8 == (address as *const u8).read())
    }
}

/// Copies the entries of a range to a place of its size.
pub unsafe fn save_entries(address: usize, size: usize, to: *mut u32) {
    unsafe {
        for (at, size) in pieces(address, size) {
            let to = core::slice::from_raw_parts_mut(to.add(at - address), size);
            match entries(at, size) {
                Some(entries) => to.copy_from_slice(entries),
                None => to.fill(0),
            }
        }
    }
}

/// Whether a range has the entries that were saved.
pub unsafe fn has_entries(address: usize, size: usize, saved: *const u32) -> bool {
    unsafe {
        pieces(address, size).all(|(at, size)| {
            let saved = core::slice::from_raw_parts(saved.add(at - address), size);
            entries(at, size).map_or_else(|| !any_set(saved), |entries| entries == saved)
        })
    }
}

/// Whether a copy from one place to another brings no label and covers none. Most copies are of small structs without labels, on pages that have some.
#[inline(always)]
pub unsafe fn copies_nothing(to: usize, from: usize, size: usize) -> bool {
    unsafe { has_no_label(from, size) && has_no_label(to, size) }
}

/// False if a byte of the range may have a label.
#[inline(always)]
unsafe fn has_no_label(address: usize, size: usize) -> bool {
    unsafe {
        if in_leaf(address) + size > PAGE {
            return !any_label(address, size);
        }
        let leaf = leaf(address);
        leaf.is_null() || !any_set(core::slice::from_raw_parts(leaf.add(in_leaf(address)), size))
    }
}

/// Copies labels as `memmove` copies bytes.
pub unsafe fn copy(to: usize, from: usize, size: usize) {
    unsafe {
        if to + size <= from || from + size <= to {
            let mut done = 0;
            while done < size {
                let room = |at: usize| PAGE - in_leaf(at + done);
                let part = room(to).min(room(from)).min(size - done);
                copy_apart(to + done, from + done, part);
                done += part;
            }
        } else if to <= from {
            for i in 0..size {
                set_entry(to + i, entry(from + i));
            }
        } else {
            for i in (0..size).rev() {
                set_entry(to + i, entry(from + i));
            }
        }
    }
}

/// The same for places that lie in a page each and have nothing in common.
unsafe fn copy_apart(to: usize, from: usize, size: usize) {
    unsafe {
        let Some(entries) = entries(from, size).filter(|entries| any_set(entries)) else {
            return clear(to, size);
        };
        let leaf = match leaf(to) {
            leaf if leaf.is_null() => leaf_for_writing(to),
            leaf => leaf,
        };
        if leaf.is_null() {
            return state::count_give_up(GiveUp::TraceFull);
        }
        os::memcpy(leaf.add(in_leaf(to)).cast(), entries.as_ptr().cast(), size * size_of::<u32>());
        for piece in in_leaf(to) / PIECE..=in_leaf(to + size - 1) / PIECE {
            touch(leaf, piece * PIECE);
        }
    }
}

/// As the loads below, where a value goes on in the next page. Out of line, since they are part of every load of the program.
#[cold]
#[inline(never)]
unsafe extern "C" fn load_across(address: usize, value: u64, size: usize) -> Label {
    unsafe { __tg_load_sized(address, value, size) }
}

/// As [`clear`], for the stores below.
#[cold]
#[inline(never)]
unsafe extern "C" fn clear_across(address: usize, size: usize) {
    unsafe { clear(address, size) }
}

/// Label of a byte that was just loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_load1(address: usize, value: u64) -> Label {
    unsafe {
        let entry = entry(address);
        if entry == 0 || shapes::is_byte(entry, value) && !budget::is_spent() {
            return entry;
        }
        load_byte(address, value, entry)
    }
}

macro_rules! loads {
    ($($size:literal $load:ident $entries:ty),*) => {$(
        /// Label of a value that was just loaded.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $load(address: usize, value: u64) -> Label {
            unsafe {
                if crosses(address, $size) {
                    return load_across(address, value, $size);
                }
                let leaf = leaf(address);
                if leaf.is_null() || leaf.add(in_leaf(address)).cast::<$entries>().read_unaligned() == 0 {
                    return 0;
                }
                load(address, $size, value)
            }
        }
    )*};
}

loads!(2 __tgi_load2 u64, 4 __tgi_load4 u128);

macro_rules! stores {
    ($($size:literal $store:ident $entries:ty),*) => {$(
        /// Notes the label of a value that was just stored.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $store(address: usize, label: Label) {
            unsafe {
                if label != 0 {
                    return store(address, label, $size);
                }
                if crosses(address, $size) {
                    return clear_across(address, $size);
                }
                let leaf = leaf(address);
                if !leaf.is_null() {
                    leaf.add(in_leaf(address)).cast::<$entries>().write_unaligned(0);
                }
            }
        }
    )*};
}

stores!(1 __tgi_store1 u32, 2 __tgi_store2 u64, 4 __tgi_store4 u128);

/// Label of an 8-byte value that was just loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_load8(address: usize, value: u64) -> Label {
    unsafe {
        if crosses(address, 8) {
            return load_across(address, value, 8);
        }
        let leaf = leaf(address);
        if leaf.is_null() {
            return 0;
        }
        let entries = leaf.add(in_leaf(address)).cast::<u128>();
        if entries.read_unaligned() | entries.add(1).read_unaligned() == 0 {
            return 0;
        }
        load(address, 8, value)
    }
}

/// Notes the label of an 8-byte value that was just stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_store8(address: usize, label: Label) {
    unsafe {
        if label != 0 {
            return store(address, label, 8);
        }
        if crosses(address, 8) {
            return clear_across(address, 8);
        }
        let leaf = leaf(address);
        if !leaf.is_null() {
            let entries = leaf.add(in_leaf(address)).cast::<u128>();
            entries.write_unaligned(0);
            entries.add(1).write_unaligned(0);
        }
    }
}

/// Label of a value that was just loaded from a place that does not depend on the input.
#[inline(always)]
pub unsafe fn load_plainly(address: usize, size: usize, value: u64) -> Label {
    unsafe {
        match size {
            1 => __tgi_load1(address, value),
            4 => __tgi_load4(address, value),
            8 => __tgi_load8(address, value),
            _ => __tg_load_sized(address, value, size),
        }
    }
}

/// Notes the label of a value that is stored at a place that does not depend on the input.
#[inline(always)]
pub unsafe fn store_plainly(address: usize, label: Label, size: usize) {
    unsafe {
        match size {
            1 => __tgi_store1(address, label),
            4 => __tgi_store4(address, label),
            8 => __tgi_store8(address, label),
            _ => __tg_store_sized(address, label, size),
        }
    }
}

/// Label of a loaded value of unusual size (up to 16 bytes); `value` is its low part.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_load_sized(address: usize, value: u64, size: usize) -> Label {
    unsafe { if any_label(address, size) { load(address, size, value) } else { 0 } }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_store_sized(address: usize, label: Label, size: usize) {
    unsafe { if label != 0 { store(address, label, size) } else { clear(address, size) } }
}

/// Bytes of an object that is made concrete without a call.
const FEW: usize = 32;

/// Makes an object concrete: a stack object that comes to life.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_clear(address: usize, size: usize) {
    unsafe {
        let (first, last) = (leaf(address), leaf(address.wrapping_add(size.wrapping_sub(1))));
        if size <= FEW && first == last {
            if !first.is_null() {
                os::memset(first.add(in_leaf(address)).cast(), 0, size * size_of::<u32>());
            }
        } else if !(first.is_null() && last.is_null() && size <= PAGE) {
            clear(address, size);
        }
    }
}

/// A value whose labels are not followed was loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tg_untracked_load(address: usize, size: usize, reason: u32) {
    unsafe {
        if any_label(address, size) {
            state::count_give_up(GiveUp::from_byte(reason as u16).unwrap_or(GiveUp::Vector));
        }
    }
}
