//! Bounds of the objects that a symbolic address can point into.
//!
//! Heap objects are marked at their first byte in a page table of their own (one mark for 16 bytes,
//! as malloc aligns), with the size that was asked for: what the allocator rounds up to would hide
//! accesses just beyond it. The allocator is never asked about a mark: code that is not
//! instrumented may have freed the object. Global variables come sorted from the instrumenter;
//! tables inside the C library are registered when the target asks for them; arrays on the stack
//! are listed by thread while their function runs.

use crate::os;
use crate::state::Run;
use crate::tls::tls;
use core::cell::Cell;
use core::ops::Range;
use core::ptr::null_mut;
use trace::Global;

#[derive(Clone, Copy)]
pub struct Object {
    pub start: usize,
    pub size: usize,
    /// Its bytes never change and are concrete.
    pub constant: bool,
}

impl Object {
    fn holds(&self, address: usize) -> bool {
        address >= self.start && address < self.start.saturating_add(self.size)
    }
}

pub struct Objects {
    /// Sorted by address.
    globals: Cell<&'static [Global]>,
    /// The number of the global variable that was found last, as for `last_found`.
    last_global: Cell<usize>,
    /// Bytes of the pool that marks have.
    pool_used: Cell<usize>,
    /// Which pages of the address space have marks, the first ones.
    pages: [Cell<usize>; MAX_KEPT],
    /// Where the heap object begins that was found last: programs read from one many times.
    last_found: Cell<usize>,
    tables: [Cell<Object>; MAX_TABLES],
    table_count: Cell<usize>,
}

impl Objects {
    pub const NEW: Objects = Objects {
        globals: Cell::new(&[]),
        last_global: Cell::new(0),
        pool_used: Cell::new(0),
        pages: [const { Cell::new(0) }; MAX_KEPT],
        last_found: Cell::new(0),
        tables: [const { Cell::new(Object { start: 0, size: 0, constant: true }) }; MAX_TABLES],
        table_count: Cell::new(0),
    };
}

/// Sorts the instrumenter's list by address (heapsort: no memory, no recursion).
///
/// # Safety
/// The list has so many entries, lives as long as the process, and is the runtime's alone.
pub unsafe fn register_globals(run: &Run, list: *mut Global, count: usize) {
    if list.is_null() || count == 0 {
        return run.objects.globals.set(&[]);
    }
    // SAFETY: the caller's promise.
    let list: &'static mut [Global] = unsafe { core::slice::from_raw_parts_mut(list, count) };
    let cells = Cell::from_mut(&mut *list).as_slice_of_cells();
    for root in (0..count / 2).rev() {
        sift_down(cells, root, count);
    }
    for end in (1..count).rev() {
        swap(cells, 0, end);
        sift_down(cells, 0, end);
    }
    run.objects.globals.set(list);
}

fn swap(list: &[Cell<Global>], a: usize, b: usize) {
    if let (Some(a), Some(b)) = (list.get(a), list.get(b)) {
        a.set(b.replace(a.get()));
    }
}

fn sift_down(list: &[Cell<Global>], mut root: usize, end: usize) {
    let start = |i: usize| list.get(i).map_or(0, |global| global.get().start);
    loop {
        let mut child = 2 * root + 1;
        if child >= end {
            return;
        }
        if child + 1 < end && start(child) < start(child + 1) {
            child += 1;
        }
        if start(root) >= start(child) {
            return;
        }
        swap(list, root, child);
        root = child;
    }
}

fn find_global(run: &Run, address: usize) -> Option<Object> {
    let globals = run.objects.globals.get();
    let holds = |at: usize| {
        let &Global { start, extent } = globals.get(at)?;
        let object = Object { start, size: extent.size(), constant: extent.is_constant() };
        object.holds(address).then_some(object)
    };
    holds(run.objects.last_global.get()).or_else(|| {
        let after = globals.partition_point(|global| global.start <= address);
        let at = after.checked_sub(1)?;
        run.objects.last_global.set(at);
        holds(at)
    })
}

/// The variables that code without bitcode in the same program may use.
pub fn visible_globals(run: &Run) -> impl Iterator<Item = Object> {
    let globals = run.objects.globals.get().iter();
    let visible =
        globals.filter(|Global { extent, .. }| extent.is_visible() && !extent.is_constant());
    visible.map(|global| Object {
        start: global.start,
        size: global.extent.size(),
        constant: false,
    })
}

/// 0 where no object begins, else one more than its size, as far as that fits.
type Mark = u32;

const HEAP_TABLE: *mut *mut Mark = 0x2400_0000_0000 as *mut *mut Mark;
const HEAP_TABLE_BYTES: usize = 8 << (47 - 16);
const HEAP_POOL: usize = 0x2C00_0000_0000;
const HEAP_POOL_BYTES: usize = 2 << 30;
/// Marks of 64 KiB of heap.
const MARKS: usize = (1 << 16) / 16;
const MARKS_BYTES: usize = MARKS * size_of::<Mark>();
/// How far back the start of a heap object is looked for.
const MAX_SCAN: usize = 1 << 20;

pub const RESERVED: usize = HEAP_TABLE_BYTES + HEAP_POOL_BYTES;
pub const LAST_ADDRESS: usize = HEAP_POOL + HEAP_POOL_BYTES;

/// Pages that are known by number: enough to take back all marks of a small run.
const MAX_KEPT: usize = 256;

/// All marks so far: where they begin, and how many bytes.
pub fn marks(run: &Run) -> (usize, usize) {
    (HEAP_POOL, run.objects.pool_used.get())
}

/// Takes back marks beyond the first `bytes`; false if a new process is cheaper.
pub fn reset_marks(run: &Run, bytes: usize) -> bool {
    let used = run.objects.pool_used.get();
    let Some(pages) = run.objects.pages.get(bytes / MARKS_BYTES..used / MARKS_BYTES) else {
        return false;
    };
    for page in pages {
        // SAFETY: these pages have marks, so the table has places for them.
        unsafe { *HEAP_TABLE.add(page.get()) = null_mut() };
    }
    // SAFETY: this part of the pool held their marks, which nothing leads to any more.
    unsafe { os::memset((HEAP_POOL + bytes) as *mut _, 0, used - bytes) };
    run.objects.pool_used.set(bytes);
    true
}

pub fn reserve() -> bool {
    os::reserve(HEAP_TABLE as usize, HEAP_TABLE_BYTES) && os::reserve(HEAP_POOL, HEAP_POOL_BYTES)
}

/// Where the mark for an address is; `None` while nothing in its page is marked.
fn place_of_mark(address: usize) -> Option<*mut Mark> {
    // SAFETY: the table has a place for each page of a process's address space.
    let page = unsafe { *HEAP_TABLE.add(address >> 16) };
    (!page.is_null()).then(|| page.wrapping_add((address & 0xFFFF) / 16))
}

fn mark(address: usize) -> Option<&'static Cell<Mark>> {
    // SAFETY: a page has its marks until the run ends, and they are only used as cells.
    place_of_mark(address).map(|place| unsafe { &*place.cast() })
}

/// A heap object of this size begins at `address`; without a size it is as large as its block.
pub fn note_allocation(run: &Run, address: usize, size: Option<usize>) {
    if address == 0 || place_of_mark(address).is_none() && !add_page(run, address) {
        return;
    }
    // SAFETY: without a size the object is one that the allocator has just made.
    let size = size.unwrap_or_else(|| unsafe { malloc_usable_size(address as *mut _) });
    clear_marks(address, size);
    if let Some(mark) = mark(address) {
        mark.set(mark_of(size));
    }
}

/// Makes room for marks in the page of an address; false if there is none.
fn add_page(run: &Run, address: usize) -> bool {
    let used = run.objects.pool_used.get();
    if used + MARKS_BYTES > HEAP_POOL_BYTES {
        return false;
    }
    // SAFETY: as in `place_of_mark`; the pool has room for the page's marks.
    unsafe { *HEAP_TABLE.add(address >> 16) = (HEAP_POOL + used) as *mut Mark };
    if let Some(page) = run.objects.pages.get(used / MARKS_BYTES) {
        page.set(address >> 16);
    }
    run.objects.pool_used.set(used + MARKS_BYTES);
    true
}

/// Takes back the marks of objects that were where the new one is, and that others have freed.
fn clear_marks(address: usize, size: usize) {
    let end = address.saturating_add(size);
    let mut at = address;
    while at < end {
        let next = ((at | 0xFFFF) + 1).min(end);
        if let Some(first) = place_of_mark(at) {
            // SAFETY: these marks are all in the page of the first.
            unsafe { os::memset(first.cast(), 0, (next - at).div_ceil(16) * size_of::<Mark>()) };
        }
        at = next;
    }
}

/// Whether a heap object of the program's begins there, if nobody else has freed it. Then another
/// may be in its place whose block is larger than that of an object of this size.
pub fn may_be_replaced(start: usize, size: usize) -> bool {
    const SMALL_REST: usize = 16;
    const PAGE: usize = 4096;
    if start.is_multiple_of(PAGE) || mark(start).is_none_or(|mark| mark.get() == 0) {
        return false;
    }
    // SAFETY: the word is in the same page as the block, which may be free by now.
    let head = unsafe { (start as *const usize).sub(1).read() };
    (head & !0xF) > block_size(size) + SMALL_REST
}

pub fn note_free(address: usize) {
    if let Some(mark) = mark(address) {
        mark.set(0);
    }
}

unsafe extern "C" {
    fn malloc_usable_size(object: *mut core::ffi::c_void) -> usize;
}

/// Where the block of an object of this size ends, and the next one begins, as glibc rounds.
fn block_size(size: usize) -> usize {
    size.saturating_add(8).next_multiple_of(16).max(32)
}

fn mark_of(size: usize) -> Mark {
    Mark::try_from(size).unwrap_or(Mark::MAX).saturating_add(1)
}

/// The heap object that begins at `start`, if what is at `address` belongs to it or to nobody else:
/// an access just beyond an object is meant for it.
fn heap_object(start: usize, address: usize) -> Option<Object> {
    let mark = mark(start).map(Cell::get).filter(|mark| *mark != 0)?;
    let size = mark as usize - 1;
    let is_near = (start..start.saturating_add(block_size(size))).contains(&address);
    is_near.then_some(Object { start, size, constant: false })
}

fn find_heap(run: &Run, address: usize) -> Option<Object> {
    let object =
        heap_object(run.objects.last_found.get(), address).or_else(|| scan_heap(address))?;
    run.objects.last_found.set(object.start);
    Some(object)
}

fn scan_heap(address: usize) -> Option<Object> {
    let mut at = address & !15;
    let stop = at.saturating_sub(MAX_SCAN);
    while at > stop {
        let Some(mark) = mark(at) else {
            at = (at & !0xFFFF).checked_sub(16)?;
            continue;
        };
        if mark.get() != 0 {
            return heap_object(at, address);
        }
        at -= 16;
    }
    None
}

const MAX_TABLES: usize = 16;

fn tables(run: &Run) -> impl Iterator<Item = Object> {
    run.objects.tables.iter().take(run.objects.table_count.get()).map(Cell::get)
}

/// A constant table inside a library.
pub fn register_table(run: &Run, start: usize, size: usize) {
    let count = run.objects.table_count.get();
    if !tables(run).any(|table| table.start == start)
        && let Some(table) = run.objects.tables.get(count)
    {
        table.set(Object { start, size, constant: true });
        run.objects.table_count.set(count + 1);
    }
}

fn find_table(run: &Run, address: usize) -> Option<Object> {
    tables(run).find(|table| table.holds(address))
}

/// The length of the list of stack arrays at a function's entry, for [`__tgi_leave_frame`].
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_enter_frame() -> u32 {
    tls().stack_len.get()
}

/// An array in the frame of the function that was entered last.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_stack_array(start: usize, size: usize) {
    let tls = tls();
    let at = tls.stack_len.get();
    if let Some(slot) = tls.stack.get(at as usize) {
        slot.set([start, size]);
        tls.stack_len.set(at + 1);
    }
}

/// The function returns. Frames that `longjmp` or an exception skipped are forgotten here, too.
#[unsafe(no_mangle)]
pub extern "C" fn __tgi_leave_frame(length: u32) {
    tls().stack_len.set(length);
}

fn find_stack(address: usize) -> Option<Object> {
    let tls = tls();
    let used = tls.stack.get(..tls.stack_len.get() as usize)?;
    let here = (&raw const used) as usize;
    // Arrays below this frame belong to functions that were skipped.
    let live = used.iter().rev().map(Cell::get).filter(|[start, _]| *start >= here);
    live.map(|[start, size]| Object { start, size, constant: false })
        .find(|object| object.holds(address))
}

/// The object that holds `address`, or ends just before it.
pub fn find(run: &Run, address: usize) -> Option<Object> {
    let fixed = find_global(run, address).or_else(|| find_table(run, address));
    fixed.or_else(|| find_stack(address)).or_else(|| find_heap(run, address))
}

/// Whether an object that is known begins there.
pub fn any_begins(run: &Run, range: Range<usize>) -> bool {
    let globals = run.objects.globals.get();
    let next = globals.partition_point(|global| global.start < range.start);
    let of_global = globals.get(next).is_some_and(|global| range.contains(&global.start));
    let tls = tls();
    let arrays = tls.stack.get(..tls.stack_len.get() as usize).unwrap_or(&[]);
    let of_array = arrays.iter().any(|array| range.contains(&array.get()[0]));
    of_global || of_array || any_heap_begins(range)
}

fn any_heap_begins(range: Range<usize>) -> bool {
    let mut at = range.start.next_multiple_of(16);
    while at < range.end {
        match mark(at) {
            Some(mark) if mark.get() != 0 => return true,
            Some(_) => at += 16,
            None => at = (at | 0xFFFF) + 1,
        }
    }
    false
}
