//! Bounds of the objects that a symbolic address can point into.
//!
//! Heap objects are marked at their first byte in a page table of their own (one mark for 16 bytes, as malloc
//! aligns), with the size that was asked for: what the allocator rounds up to would hide accesses just beyond it.
//! The allocator is never asked about a mark: code that is not instrumented may have freed the object. Global
//! variables come sorted from the instrumenter; tables inside the C library are registered when the target asks for
//! them; arrays on the stack are listed by thread while their function runs.

use crate::os;
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

static mut GLOBALS: *mut Global = core::ptr::null_mut();
static mut GLOBAL_COUNT: usize = 0;

/// Sorts the instrumenter's list by address (heapsort: no memory, no recursion).
pub unsafe fn register_globals(list: *mut Global, count: usize) {
    unsafe {
        GLOBALS = list;
        GLOBAL_COUNT = count;
        for root in (0..count / 2).rev() {
            sift_down(list, root, count);
        }
        for end in (1..count).rev() {
            core::ptr::swap(list, list.add(end));
            sift_down(list, 0, end);
        }
    }
}

unsafe fn sift_down(list: *mut Global, mut root: usize, end: usize) {
    unsafe {
        loop {
            let mut child = 2 * root + 1;
            if child >= end {
                return;
            }
            if child + 1 < end && (*list.add(child)).start < (*list.add(child + 1)).start {
                child += 1;
            }
            if (*list.add(root)).start >= (*list.add(child)).start {
                return;
            }
            core::ptr::swap(list.add(root), list.add(child));
            root = child;
        }
    }
}

unsafe fn find_global(address: usize) -> Option<Object> {
    unsafe {
        let (mut low, mut high) = (0, GLOBAL_COUNT);
        while low < high {
            let middle = (low + high) / 2;
            if (*GLOBALS.add(middle)).start <= address { low = middle + 1 } else { high = middle }
        }
        let global = *GLOBALS.add(low.checked_sub(1)?);
        let Global { start, extent } = global;
        let object = Object { start, size: extent.size(), constant: extent.is_constant() };
        object.holds(address).then_some(object)
    }
}

/// The variables that code without bitcode in the same program may use.
pub unsafe fn visible_globals() -> impl Iterator<Item = Object> {
    // SAFETY: the list has so many entries.
    let globals = (0..unsafe { GLOBAL_COUNT }).map(|i| unsafe { *GLOBALS.add(i) });
    let visible = globals.filter(|Global { extent, .. }| extent.is_visible() && !extent.is_constant());
    visible.map(|global| Object { start: global.start, size: global.extent.size(), constant: false })
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

static mut HEAP_POOL_USED: usize = 0;

/// Which pages of the address space have marks, the first ones: enough to forget all objects of a small run.
const MOST_KEPT: usize = 256;
static mut HEAP_PAGES: [usize; MOST_KEPT] = [0; MOST_KEPT];

/// All marks so far: where they begin, and how many bytes.
pub unsafe fn marks() -> (usize, usize) {
    unsafe { (HEAP_POOL, HEAP_POOL_USED) }
}

/// Forgets marks beyond the first `bytes`; false if a new process is cheaper.
pub unsafe fn forget_marks(bytes: usize) -> bool {
    unsafe {
        let Some(pages) = HEAP_PAGES.get(bytes / MARKS_BYTES..HEAP_POOL_USED / MARKS_BYTES) else {
            return false;
        };
        for &page in pages {
            *HEAP_TABLE.add(page) = core::ptr::null_mut();
        }
        os::memset((HEAP_POOL + bytes) as *mut _, 0, HEAP_POOL_USED - bytes);
        HEAP_POOL_USED = bytes;
        true
    }
}

pub unsafe fn reserve() -> bool {
    unsafe { os::reserve(HEAP_TABLE as usize, HEAP_TABLE_BYTES) && os::reserve(HEAP_POOL, HEAP_POOL_BYTES) }
}

unsafe fn mark(address: usize) -> Option<*mut Mark> {
    unsafe {
        let page = *HEAP_TABLE.add(address >> 16);
        if page.is_null() { None } else { Some(page.add((address & 0xFFFF) / 16)) }
    }
}

/// A heap object of this size begins at `address`; without a size it is as large as its block.
pub unsafe fn note_allocation(address: usize, size: Option<usize>) {
    unsafe {
        if address == 0 {
            return;
        }
        let slot = HEAP_TABLE.add(address >> 16);
        if (*slot).is_null() {
            if HEAP_POOL_USED + MARKS_BYTES > HEAP_POOL_BYTES {
                return;
            }
            *slot = (HEAP_POOL + HEAP_POOL_USED) as *mut Mark;
            if let Some(page) = HEAP_PAGES.get_mut(HEAP_POOL_USED / MARKS_BYTES) {
                *page = address >> 16;
            }
            HEAP_POOL_USED += MARKS_BYTES;
        }
        let size = size.unwrap_or_else(|| malloc_usable_size(address as *mut _));
        clear_marks(address, size);
        *(*slot).add((address & 0xFFFF) / 16) = mark_of(size);
    }
}

/// Takes back the marks of objects that were where the new one is, and that others have freed.
unsafe fn clear_marks(address: usize, size: usize) {
    unsafe {
        let end = address.saturating_add(size);
        let mut at = address;
        while at < end {
            let next = ((at | 0xFFFF) + 1).min(end);
            if let Some(first) = mark(at) {
                os::memset(first.cast(), 0, (next - at).div_ceil(16) * size_of::<Mark>());
            }
            at = next;
        }
    }
}

pub unsafe fn note_free(address: usize) {
    unsafe {
        if let Some(mark) = mark(address) {
            *mark = 0;
        }
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

/// Where the heap object begins that was found last: programs read from one many times.
static mut LAST_FOUND: usize = 0;

/// The heap object that begins at `start`, if what is at `address` belongs to it or to nobody else: an access just
/// beyond an object is meant for it.
unsafe fn heap_object(start: usize, address: usize) -> Option<Object> {
    unsafe {
        let mark = mark(start).map(|mark| *mark).filter(|mark| *mark != 0)?;
        let size = mark as usize - 1;
        let is_near = (start..start.saturating_add(block_size(size))).contains(&address);
        is_near.then_some(Object { start, size, constant: false })
    }
}

unsafe fn find_heap(address: usize) -> Option<Object> {
    unsafe {
        let object = heap_object(LAST_FOUND, address).or_else(|| scan_heap(address))?;
        LAST_FOUND = object.start;
        Some(object)
    }
}

unsafe fn scan_heap(address: usize) -> Option<Object> {
    unsafe {
        let mut at = address & !15;
        let stop = at.saturating_sub(MAX_SCAN);
        while at > stop {
            let Some(mark) = mark(at) else {
                at = (at & !0xFFFF).checked_sub(16)?;
                continue;
            };
            if *mark != 0 {
                return heap_object(at, address);
            }
            at -= 16;
        }
        None
    }
}

const MAX_TABLES: usize = 16;
static mut TABLES: [Object; MAX_TABLES] = [Object { start: 0, size: 0, constant: true }; MAX_TABLES];
static mut TABLE_COUNT: usize = 0;

/// A constant table inside a library.
pub unsafe fn register_table(start: usize, size: usize) {
    unsafe {
        let known = (0..TABLE_COUNT).any(|i| TABLES[i & (MAX_TABLES - 1)].start == start);
        if !known && TABLE_COUNT < MAX_TABLES {
            TABLES[TABLE_COUNT & (MAX_TABLES - 1)] = Object { start, size, constant: true };
            TABLE_COUNT += 1;
        }
    }
}

unsafe fn find_table(address: usize) -> Option<Object> {
    unsafe { (0..TABLE_COUNT).map(|i| TABLES[i & (MAX_TABLES - 1)]).find(|table| table.holds(address)) }
}

/// The length of the list of stack arrays at a function's entry, for [`__tgi_leave_frame`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_enter_frame() -> u32 {
    unsafe { (*os::tls()).stack_len }
}

/// An array in the frame of the function that was entered last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_stack_array(start: usize, size: usize) {
    unsafe {
        let tls = os::tls();
        let at = (*tls).stack_len as usize;
        if let Some(slot) = (*tls).stack.get_mut(at) {
            *slot = [start, size];
            (*tls).stack_len = at as u32 + 1;
        }
    }
}

/// The function returns. Frames that `longjmp` or an exception skipped are forgotten here, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgi_leave_frame(length: u32) {
    unsafe { (*os::tls()).stack_len = length }
}

unsafe fn find_stack(address: usize) -> Option<Object> {
    unsafe {
        let tls = os::tls();
        let used = (*tls).stack.get(..(*tls).stack_len as usize)?;
        let here = (&raw const used) as usize;
        // Arrays below this frame belong to functions that were skipped.
        let live = used.iter().rev().filter(|[start, _]| *start >= here);
        live.map(|&[start, size]| Object { start, size, constant: false })
            .find(|object| object.holds(address))
    }
}

/// The object that holds `address`, or ends just before it.
pub unsafe fn find(address: usize) -> Option<Object> {
    unsafe {
        let fixed = find_global(address).or_else(|| find_table(address));
        fixed.or_else(|| find_stack(address)).or_else(|| find_heap(address))
    }
}
