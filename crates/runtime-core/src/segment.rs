//! The shared memory of the current run: where its parts are, read and written by their numbers.
//!
//! The driver reads the segment when the run is over. All raw pointers into it are here.

use core::cell::Cell;
use core::ptr::{null, null_mut};
use trace::{Event, GiveUp, Header, Label, Node, Table, flags};

pub struct Segment {
    /// Null when the target runs without Tarragon.
    header: Cell<*mut Header>,
    input: Cell<*const u8>,
    input_len: Cell<u32>,
    /// A byte for each of the input, not 0 where it is symbolic; null if all of the input is, its
    /// length included.
    holes: Cell<*const u8>,
    nodes: Cell<*mut Node>,
    values: Cell<*mut u64>,
    node_cap: Cell<u32>,
    events: Cell<*mut Event>,
    event_cap: Cell<u32>,
    tables: Cell<*mut Table>,
    data: Cell<*mut u8>,
    shapes: Cell<*mut Node>,
}

impl Segment {
    pub const NONE: Segment = Segment {
        header: Cell::new(null_mut()),
        input: Cell::new(null()),
        input_len: Cell::new(0),
        holes: Cell::new(null()),
        nodes: Cell::new(null_mut()),
        values: Cell::new(null_mut()),
        node_cap: Cell::new(0),
        events: Cell::new(null_mut()),
        event_cap: Cell::new(0),
        tables: Cell::new(null_mut()),
        data: Cell::new(null_mut()),
        shapes: Cell::new(null_mut()),
    };

    /// Null when the target runs without Tarragon.
    #[inline(always)]
    pub fn header(&self) -> *mut Header {
        self.header.get()
    }

    #[inline(always)]
    pub fn is_attached(&self) -> bool {
        !self.header.get().is_null()
    }

    /// Belongs to a run without labels: only counters are written.
    pub fn attach(&self, header: *mut Header) {
        self.header.set(header);
    }

    /// How many nodes there is room for, before the first run.
    pub fn set_node_cap(&self, capacity: u32) {
        self.node_cap.set(capacity);
    }

    /// A run with labels begins on the input that the header tells of.
    ///
    /// # Safety
    /// The header is that of a whole segment, which stays mapped and is this process's to write.
    pub unsafe fn open(&self, header: *mut Header) {
        let region = |offset: u64| header.cast::<u8>().wrapping_add(offset as usize);
        self.header.set(header);
        // SAFETY: the caller's promise.
        let told = unsafe { &*header };
        self.input.set(region(told.input.offset));
        self.input_len.set(told.input_len);
        self.nodes.set(region(told.nodes.offset).cast());
        self.values.set(region(told.values.offset).cast());
        self.events.set(region(told.events.offset).cast());
        self.event_cap.set(told.events.capacity.min(u32::MAX as u64) as u32);
        self.tables.set(region(told.tables.offset).cast());
        self.data.set(region(told.data.offset));
        self.shapes.set(region(told.shapes.offset).cast());
        let has_holes = told.flags & flags::HOLES != 0;
        self.holes.set(if has_holes { region(told.holes.offset) } else { null() });
    }

    /// The header of the segment, which is attached.
    #[inline(always)]
    fn told(&self) -> &Header {
        // SAFETY: attached, and nobody else writes it while the run goes on.
        unsafe { &*self.header.get() }
    }

    #[inline(always)]
    pub fn input(&self) -> *const u8 {
        self.input.get()
    }

    #[inline(always)]
    pub fn input_len(&self) -> u32 {
        self.input_len.get()
    }

    /// A byte of the input.
    #[inline(always)]
    pub fn input_byte(&self, index: u32) -> u8 {
        // SAFETY: callers keep below the length of the input.
        unsafe { *self.input().add(index as usize) }
    }

    pub fn max_input_len(&self) -> u32 {
        self.told().max_input_len
    }

    /// Whether the header has one of these flags.
    pub fn has_flag(&self, flag: u32) -> bool {
        self.told().flags & flag != 0
    }

    /// Whether only holes are symbolic.
    #[inline(always)]
    pub fn has_holes(&self) -> bool {
        !self.holes.get().is_null()
    }

    /// The mark of a byte of the input, where only holes are symbolic.
    pub fn mark(&self, index: u32) -> u8 {
        // SAFETY: there is a mark for each byte of the input, and the marks end with zeros.
        unsafe { *self.holes.get().add(index as usize) }
    }

    #[inline(always)]
    pub fn node_cap(&self) -> u32 {
        self.node_cap.get()
    }

    #[inline(always)]
    pub fn node(&self, label: Label) -> Node {
        // SAFETY: labels of nodes are numbers of nodes that this run made.
        unsafe { *self.nodes.get().add(label as usize) }
    }

    /// A node as two words.
    #[inline(always)]
    pub fn words(&self, label: Label) -> [u64; 2] {
        // SAFETY: as above; a node has the size of two words.
        unsafe { self.nodes.get().add(label as usize).cast::<[u64; 2]>().read_unaligned() }
    }

    #[inline(always)]
    pub fn value(&self, label: Label) -> u64 {
        // SAFETY: as above; each node has a value.
        unsafe { *self.values.get().add(label as usize) }
    }

    pub fn set_node(&self, label: Label, node: Node, value: u64) {
        // SAFETY: callers keep below `node_cap`.
        unsafe {
            *self.nodes.get().add(label as usize) = node;
            *self.values.get().add(label as usize) = value;
        }
    }

    #[inline(always)]
    pub fn set_words(&self, label: Label, words: [u64; 2], value: u64) {
        // SAFETY: callers keep below `node_cap`; a node has the size of two words.
        unsafe {
            self.nodes.get().add(label as usize).cast::<[u64; 2]>().write_unaligned(words);
            *self.values.get().add(label as usize) = value;
        }
    }

    /// Makes the memory of nodes that are about to be written present.
    pub fn populate_nodes(&self, label: Label, count: usize) {
        let (nodes, values) = (self.nodes.get(), self.values.get());
        crate::os::populate(nodes.wrapping_add(label as usize).cast(), count * size_of::<Node>());
        crate::os::populate(values.wrapping_add(label as usize).cast(), count * size_of::<u64>());
    }

    #[inline(always)]
    pub fn event_cap(&self) -> u32 {
        self.event_cap.get()
    }

    #[inline(always)]
    pub fn set_event(&self, number: u32, event: Event) {
        // SAFETY: callers keep below `event_cap`.
        unsafe { *self.events.get().add(number as usize) = event };
    }

    pub fn event(&self, number: u32) -> Event {
        // SAFETY: events are asked for by numbers that they were written with.
        unsafe { *self.events.get().add(number as usize) }
    }

    /// Makes the memory of events that are about to be written present.
    pub fn populate_events(&self, number: u32, count: u32) {
        let start = self.events.get().wrapping_add(number as usize);
        crate::os::populate(start.cast(), count as usize * size_of::<Event>());
    }

    pub fn table_cap(&self) -> u64 {
        self.told().tables.capacity
    }

    pub fn table(&self, number: u32) -> Table {
        // SAFETY: tables are asked for by numbers that they were written with.
        unsafe { *self.tables.get().add(number as usize) }
    }

    pub fn set_table(&self, number: u32, table: Table) {
        // SAFETY: callers keep below `table_cap`.
        unsafe { *self.tables.get().add(number as usize) = table };
    }

    pub fn data_cap(&self) -> u64 {
        self.told().data.capacity
    }

    /// Where data of tables is, from this offset on.
    pub fn data(&self, offset: u32) -> *mut u8 {
        self.data.get().wrapping_add(offset as usize)
    }

    /// A byte function that another process of this run made.
    pub fn shape(&self, number: u32) -> Node {
        // SAFETY: shapes are asked for by numbers that they were written with.
        unsafe { *self.shapes.get().add(number as usize) }
    }

    /// The byte functions of this run, as the driver reads them.
    pub fn set_shape(&self, number: u32, record: Node) {
        // SAFETY: callers keep below the number of shapes that there is room for.
        unsafe { *self.shapes.get().add(number as usize) = record };
    }

    /// A branch on symbolic data.
    #[inline(always)]
    pub fn count_branch(&self) {
        // SAFETY: attached, as something is symbolic.
        unsafe { (*self.header.get()).symbolic_branches += 1 };
    }

    /// Symbolic data was dropped.
    #[cold]
    pub fn count_give_up(&self, reason: GiveUp) {
        if self.is_attached() {
            // SAFETY: attached.
            let counter = unsafe { &mut (*self.header.get()).give_ups[reason as usize & 31] };
            *counter = counter.wrapping_add(1);
        }
    }
}

macro_rules! counts {
    ($($get:ident $set:ident)*) => {
        impl Segment {$(
            #[inline(always)]
            pub fn $get(&self) -> u32 {
                self.told().$get
            }

            #[inline(always)]
            pub fn $set(&self, count: u32) {
                // SAFETY: attached, and no reference to the header is alive.
                unsafe { (*self.header.get()).$get = count };
            }
        )*}
    };
}

counts! {
    node_count set_node_count
    event_count set_event_count
    table_count set_table_count
    shape_count set_shape_count
    data_len set_data_len
}
