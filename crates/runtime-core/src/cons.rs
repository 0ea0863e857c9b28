//! The hash table by which nodes are found again.
//!
//! Open addressing. It starts small because each page of it that a run touches costs a page fault
//! in every forked child.

use crate::os;
use crate::segment::Segment;
use core::cell::Cell;
use core::ptr::null_mut;
use trace::{GiveUp, Label};

pub struct Cons(Cell<Table>);

/// Where the table is. It outlives a process that is rewound: it may have grown since the process
/// began.
#[derive(Clone, Copy)]
pub struct Table {
    /// A label in the low [`LABEL_BITS`] bits, a part of its node's hash above: most other nodes
    /// are told from the one that is looked for without being read. 0 is empty.
    slots: *mut u32,
    /// How many slots there is memory for. Those that are not in use are empty.
    reserved: u32,
    capacity: u32,
    used: u32,
}

const FIRST_CAPACITY: u32 = 4096;
/// A table up to this size is emptied for the next run of the same process.
const MAX_KEPT: u32 = FIRST_CAPACITY << 6;
const LABEL_BITS: u32 = 28;

/// Where a node may stand, and that it does not stand there yet.
pub struct Vacancy {
    slot: usize,
    tag: u32,
}

impl Cons {
    pub const NEW: Cons =
        Cons(Cell::new(Table { slots: null_mut(), reserved: 0, capacity: 0, used: 0 }));

    /// Reserves the first table before the fork server starts, so that runs share its pages.
    pub fn prepare(&self, segment: &Segment) {
        self.grow(segment, 0);
    }

    /// A run ends; false if the table became so large that a new process is cheaper.
    pub fn reset(&self) -> bool {
        let mut table = self.0.get();
        if table.reserved > MAX_KEPT {
            return false;
        }
        if table.used != 0 {
            table.empty();
            // Small again: one large trace would otherwise make all that follow pay for it.
            (table.capacity, table.used) = (FIRST_CAPACITY.min(table.reserved), 0);
            self.0.set(table);
        }
        true
    }

    pub fn table(&self) -> Table {
        self.0.get()
    }

    pub fn restore(&self, table: Table) {
        self.0.set(table);
    }

    /// The label of the node with these words, or a place for it; `None` if there is none.
    #[inline(always)]
    pub fn find(&self, segment: &Segment, words: [u64; 2]) -> Option<Result<Label, Vacancy>> {
        let mut table = self.0.get();
        if table.used * 2 >= table.capacity {
            if !self.grow(segment, segment.node_count()) {
                return None;
            }
            table = self.0.get();
        }
        let mut probe = Probe::new(words);
        loop {
            let slot = probe.next(table.capacity);
            let entry = table.get(slot);
            if entry == 0 {
                return Some(Err(Vacancy { slot, tag: probe.tag }));
            }
            let label = entry ^ probe.tag;
            if label >> LABEL_BITS == 0 && segment.words(label) == words {
                return Some(Ok(label));
            }
        }
    }

    #[inline(always)]
    pub fn fill(&self, vacancy: Vacancy, label: Label) {
        let mut table = self.0.get();
        table.set(vacancy.slot, label | vacancy.tag);
        table.used += 1;
        self.0.set(table);
    }

    /// Takes over the nodes from this one on, which another process has made.
    pub fn adopt(&self, segment: &Segment, from: Label) {
        let end = segment.node_count();
        let is_full = |table: Table| (table.used + (end - from)) * 2 >= table.capacity;
        while is_full(self.0.get()) {
            if !self.grow(segment, from) {
                return;
            }
        }
        for label in from..end {
            if let Some(Err(vacancy)) = self.find(segment, segment.words(label)) {
                self.fill(vacancy, label);
            }
        }
    }

    #[cold]
    fn grow(&self, segment: &Segment, end: Label) -> bool {
        let mut table = self.0.get();
        let capacity = if table.capacity == 0 { FIRST_CAPACITY } else { table.capacity * 4 };
        if !table.make_room(capacity) {
            segment.count_give_up(GiveUp::TraceFull);
            return false;
        }
        table.capacity = capacity;
        // The newest nodes before the end are those in the table: input bytes stand before them.
        let end = if table.used == 0 { 0 } else { end };
        for label in end - table.used..end {
            let mut probe = Probe::new(segment.words(label));
            let mut slot = probe.next(capacity);
            while table.get(slot) != 0 {
                slot = probe.next(capacity);
            }
            table.set(slot, label | probe.tag);
        }
        self.0.set(table);
        true
    }
}

impl Table {
    #[inline(always)]
    fn get(&self, slot: usize) -> u32 {
        // SAFETY: a probe keeps below the capacity, for which there is memory.
        unsafe { *self.slots.add(slot) }
    }

    #[inline(always)]
    fn set(&self, slot: usize, entry: u32) {
        // SAFETY: as above, and the memory is the table's own.
        unsafe { *self.slots.add(slot) = entry };
    }

    fn empty(&self) {
        // SAFETY: there is memory for as many slots as are in use.
        unsafe { os::memset(self.slots.cast(), 0, self.capacity as usize * size_of::<u32>()) };
    }

    /// Memory for a larger table, in place of the present one, whose nodes have to be put in again;
    /// false if there is none.
    fn make_room(&mut self, capacity: u32) -> bool {
        if capacity <= self.reserved {
            self.empty();
            return true;
        }
        let slots = os::allocate_populated(capacity as usize * size_of::<u32>()).cast::<u32>();
        if slots.is_null() {
            return false;
        }
        if self.reserved != 0 {
            // SAFETY: the memory was allocated with this size, and nothing refers to it any more.
            unsafe { os::release(self.slots.cast(), self.reserved as usize * size_of::<u32>()) };
        }
        (self.slots, self.reserved) = (slots, capacity);
        true
    }
}

/// Where a node may stand in the hash table: a few slots near those of its first operand, because
/// what a run builds next mostly stands on what it built last and the cache holds it; then slots
/// anywhere.
struct Probe {
    near: u32,
    far: u32,
    step: u32,
    /// What an entry for the node has above the label.
    tag: u32,
}

impl Probe {
    const NEAR_SLOTS: u32 = 4;
    const NEIGHBOURHOOD: u32 = 64;

    fn new([head, tail]: [u64; 2]) -> Probe {
        // Labels grow one by one, so their low bits have to reach all bits of the hash.
        let folded = (head ^ tail.rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (folded ^ folded >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let (first, far) = ((head >> 32) as u32, (mixed ^ mixed >> 32) as u32);
        let neighbour =
            || first.wrapping_mul(16).wrapping_add((mixed >> 32) as u32 % Probe::NEIGHBOURHOOD);
        let near = if first == 0 { far } else { neighbour() };
        Probe { near, far, step: 0, tag: folded as u32 >> LABEL_BITS << LABEL_BITS }
    }

    fn next(&mut self, capacity: u32) -> usize {
        let step = self.step;
        self.step += 1;
        let slot = if step < Probe::NEAR_SLOTS {
            self.near.wrapping_add(step)
        } else {
            // An odd stride visits every slot, and leaves the crowded neighbourhoods of others at
            // once.
            self.far.wrapping_add(step.wrapping_mul(self.far | 1))
        };
        (slot & (capacity - 1)) as usize
    }
}
