//! What code can reach from a pointer: the memory there, and the objects that pointers in it lead
//! to.

use super::{known, unknown};
use crate::words;
use core::ffi::c_void;
use runtime_core::objects::Object;
use runtime_core::state::Run;
use runtime_core::{objects, os, shadow};

/// Objects that are looked at in a run for what hangs on them.
pub const MAX_LOOKS: u32 = 20_000;
/// Objects that are looked at from one pointer.
const MAX_FOUND: usize = 64;

/// Addresses of objects are between these.
const LOWEST: usize = 1 << 16;
const HIGHEST: usize = 1 << 47;

/// Bytes that are looked at of what a pointer points to, if its end is known.
const MAX_BYTES: usize = 1 << 20;
/// The same for pointers to what hangs on it: in frames, where much is left of what was there
/// before, elsewhere, and of other objects whose end is not known. Lists of arguments are in frames
/// and begin with 48 bytes of registers.
const FRAME_BYTES: usize = 64;
const WORD_BYTES: usize = 4096;
const UNKNOWN_BYTES: usize = 32;
/// Objects so large may be gone, if code without bitcode has freed them: the allocator gives them
/// back to the kernel.
const LARGE_BYTES: usize = 1 << 16;

unsafe extern "C" {
    static __libc_stack_end: *const c_void;
}

/// Whether there could be an object.
pub fn is_address(number: usize) -> bool {
    (LOWEST..HIGHEST).contains(&number)
}

/// All that code can reach from a piece of memory.
pub struct Search {
    found: [Memory; MAX_FOUND],
    count: usize,
    /// Not everything was looked at.
    is_cut: bool,
}

impl Search {
    pub fn from(memory: Memory) -> Search {
        let found = [memory; MAX_FOUND];
        Search { found, count: 1, is_cut: memory.size > MAX_BYTES }
    }

    /// Whether a label is among it. Where it is too much to look at, there is one, if the input was
    /// read at all.
    pub fn finds_label(&mut self, run: &Run) -> bool {
        let mut next = 0;
        while let Some(memory) = self.found.get(next).copied().filter(|_| next < self.count) {
            next += 1;
            if memory.is_symbolic(run) {
                return true;
            }
            for word in memory.words_of(MAX_BYTES) {
                self.follow(run, word);
            }
        }
        self.is_cut && known().was_used.get()
    }

    fn follow(&mut self, run: &Run, pointer: usize) {
        let object = objects::find(run, pointer).filter(|object| !object.constant);
        // Memory whose end is unknown ends where an object begins.
        let is_found = |memory: &Memory| match object {
            Some(object) => {
                memory.start == object.start || !memory.is_open && memory.holds(pointer)
            }
            None => memory.holds(pointer),
        };
        if self.found.iter().take(self.count).any(is_found) {
            return;
        }
        let memory = match object {
            Some(object) => Memory::at(run, object.start, 0),
            None => Memory::at(run, pointer, 0),
        };
        if memory.is_there {
            self.add(memory);
        }
    }

    fn add(&mut self, memory: Memory) {
        let looks = &known().looks;
        looks.set(looks.get().saturating_sub(1));
        match self.found.get_mut(self.count).filter(|_| looks.get() != 0) {
            Some(free) => {
                *free = memory;
                self.count += 1;
                self.is_cut |= memory.size == MAX_BYTES;
            }
            None => self.is_cut = true,
        }
    }
}

/// Memory that a pointer leads to.
#[derive(Clone, Copy)]
pub struct Memory {
    start: usize,
    size: usize,
    /// It can be read.
    is_there: bool,
    /// There may be more of it.
    is_open: bool,
}

impl Memory {
    /// What is at an address, which need not be one; of this size, or 0 if that is not known.
    pub fn at(run: &Run, start: usize, size: usize) -> Memory {
        let rest = |object: Object| (object.start + object.size).saturating_sub(start);
        let is_itself = |object: &Object| {
            object.size >= LARGE_BYTES || !objects::may_be_replaced(object.start, object.size)
        };
        let object = || objects::find(run, start).filter(is_itself);
        let found = || object().map(rest).or_else(|| rest_of_arguments(start));
        let is_frame = is_on_stack(start);
        let is_mapped = |size: &usize| os::is_mapped(start, *size);
        let block = || unknown::block_end(start).map(|end| end - start).filter(is_mapped);
        let known = if size != 0 { Some(size) } else { found() };
        let known = known.or_else(|| if is_frame { None } else { block() });
        let unknown_bytes = if is_frame { FRAME_BYTES } else { UNKNOWN_BYTES };
        let size = known.unwrap_or(unknown_bytes).min(MAX_BYTES);
        let is_open = known.is_none();
        let is_there = !is_open && (size < LARGE_BYTES || os::is_mapped(start, size));
        let is_there = is_there || is_frame && is_on_stack(start + size);
        Memory { start, size, is_there, is_open }
    }

    /// That of an object which cannot be gone.
    pub fn of(object: Object) -> Memory {
        Memory { start: object.start, size: object.size, is_there: true, is_open: false }
    }

    fn holds(&self, address: usize) -> bool {
        (self.start..self.start + self.size).contains(&address)
    }

    /// Whether a byte of it has a label. What is not believed does not count.
    pub fn is_symbolic(&self, run: &Run) -> bool {
        if self.is_open {
            return is_address(self.start) && unknown::is_symbolic(run, self.start);
        }
        let is_free = self.start >= HIGHEST || !shadow::any_label(self.start, self.size);
        let mut bytes = self.start..self.start + self.size;
        !is_free && (!self.is_there || bytes.any(|at| shadow::is_believed(run, at)))
    }

    /// Words of it that could be pointers.
    pub fn words(self) -> impl Iterator<Item = usize> {
        self.words_of(if is_on_stack(self.start) { FRAME_BYTES } else { WORD_BYTES })
    }

    /// Those among the first so many bytes.
    pub fn words_of(self, bytes: usize) -> impl Iterator<Item = usize> {
        const SIZE: usize = size_of::<usize>();
        let first = self.start.next_multiple_of(SIZE);
        let end = if self.is_there { self.start + self.size.min(bytes) } else { first };
        let places = (first..end).step_by(SIZE).filter(move |at| at + SIZE <= end);
        // SAFETY: the places are aligned, and within memory that is there.
        places.map(|at| unsafe { (at as *const usize).read() }).filter(|word| is_address(*word))
    }
}

/// How many bytes there are from an address in the list of the program's arguments to its end. The
/// list is not in a frame, but above all of them or in memory of the runtime.
fn rest_of_arguments(start: usize) -> Option<usize> {
    let list = words::__tg_arguments() as usize;
    let size = words::__tg_argument_count().max(0) as usize * size_of::<usize>();
    let offset = start.checked_sub(list)?;
    size.checked_sub(offset).filter(|rest| *rest != 0)
}

/// Whether the address is in a frame of the main thread.
pub fn is_on_stack(address: usize) -> bool {
    let here = 0u8;
    // SAFETY: the C library sets the variable before the program starts.
    let end = unsafe { __libc_stack_end } as usize;
    address > (&raw const here) as usize && address < end
}
