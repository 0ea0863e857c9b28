//! A process as it was when its run began, so that it can begin again: one restored process after
//! the other costs a fraction of one forked process after the other.
//!
//! Kept are the writable pages of the program, its libraries and its heap, the stack above the
//! place where runs begin, and what the processor needs to go on there. Memory that is mapped later
//! is left alone: nothing leads to it any more. Memory of the runtime's own (labels, expressions)
//! is not kept; whoever restores a process empties it before. Only pages that differ are written.
//!
//! The code runs inside the target: it must not allocate or panic. It knows nothing of inputs,
//! labels or the driver.

use crate::process::process;
use crate::sys::{self, Descriptor, Map};
use core::arch::asm;
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::null_mut;

const PAGE: usize = 4096;
const MAX_REGIONS: usize = 64;
/// A program with more writable memory than this is cheaper to fork than to compare.
const MAX_BYTES: usize = 2 << 20;
const MAX_STACK: usize = 256 << 10;
/// The stack on which the other one is written.
const OWN_STACK: usize = 64 << 10;

/// The part of [`Process`](crate::process::Process) that this module owns.
pub(crate) struct State {
    memory: Cell<Memory>,
    start: Cell<Start>,
    context: Cell<Context>,
}

impl State {
    pub const fn new() -> State {
        State {
            memory: Cell::new(Memory::NONE),
            start: Cell::new(Start::NONE),
            context: Cell::new(Context::NONE),
        }
    }
}

#[derive(Clone, Copy)]
struct Region {
    start: usize,
    len: usize,
}

impl Region {
    const EMPTY: Region = Region { start: 0, len: 0 };
}

/// The memory of the program that snapshots hold, and where they hold it.
#[derive(Clone, Copy)]
struct Memory {
    regions: [Region; MAX_REGIONS],
    count: usize,
    /// The end of the main thread's stack; 0 if no snapshot can be taken.
    stack_end: usize,
    /// Copies of the regions one after the other, then of the stack; after them a stack of our own,
    /// then a page for what is kept. Null if no snapshot can be taken.
    copies: *mut u8,
    /// Size of all regions, in whole pages once there are copies.
    bytes: usize,
}

/// What was found where runs begin.
#[derive(Clone, Copy)]
struct Start {
    stack: Region,
    /// End of the heap that the kernel was asked for.
    heap_end: *mut c_void,
    signals: sys::SigSet,
}

impl Start {
    const NONE: Start = Start { stack: Region::EMPTY, heap_end: null_mut(), signals: [0; 16] };
}

/// What the processor needs to go on where [`take`] returned.
#[derive(Clone, Copy)]
#[repr(C)]
struct Context {
    /// rbx, rbp, rsp, and where to go. The compiler saves all others.
    registers: [usize; 4],
    /// Control words of the floating-point units.
    mxcsr: u32,
    x87: u32,
}

impl Context {
    const NONE: Context = Context { registers: [0; 4], mxcsr: 0, x87: 0 };
}

/// Finds the memory of the program, once and before the first run. Addresses for which `is_own`
/// holds belong to the runtime and are left out, but for `described`, start and length of what says
/// something about the program's memory. What is mapped afterwards is not part of snapshots.
///
/// # Safety
/// Must be called on the main thread, where runs begin. What is mapped now, but for what is the
/// runtime's own, must stay mapped; `described` must be memory that can be written.
pub unsafe fn survey(is_own: impl Fn(usize) -> bool, described: Option<(usize, usize)>) {
    let Some(maps) = Descriptor::open(c"/proc/self/maps") else { return };
    let mut memory = Memory::NONE;
    if let Some((start, len)) = described {
        memory.add(Region { start, len });
    }
    let mut line = Line::default();
    let mut buffer = [0; PAGE];
    loop {
        let text = maps.read(&mut buffer);
        if text.is_empty() {
            break;
        }
        for &byte in text {
            if let Some(mapping) = line.take(byte)
                && !is_own(mapping.start)
            {
                memory.note(&mapping);
            }
        }
    }
    memory.allocate();
    process().snapshot.memory.set(memory);
}

/// Whether this process can begin again.
pub fn is_possible() -> bool {
    !process().snapshot.memory.get().copies.is_null()
}

/// Takes the snapshot and returns false; returns true whenever the process is restored.
///
/// # Safety
/// A snapshot must be possible ([`is_possible`]), and this thread be the only one. As after a fork,
/// what the caller does next may happen several times.
pub unsafe fn take() -> bool {
    // The compiler need not know that this returns again: as after a fork, all memory and all
    // registers that a call preserves are then as they were.
    let restored: u32;
    // SAFETY: the context has the layout that is written, and nobody else writes it; `go_on` comes
    // back to the label with the registers and the stack that were kept, and says which registers
    // it changed otherwise. Nothing is assumed of the stack below `rsp`.
    unsafe {
        asm!(
            "mov [rdi], rbx",
            "mov [rdi + 8], rbp",
            "mov [rdi + 16], rsp",
            "lea rax, [rip + 2f]",
            "mov [rdi + 24], rax",
            "stmxcsr [rdi + 32]",
            "fnstcw [rdi + 36]",
            "mov rdi, rsp",
            "call rsi",
            "xor eax, eax",
            "2:",
            inout("rdi") process().snapshot.context.as_ptr() => _,
            inout("rsi") copy_memory as *const () => _,
            lateout("eax") restored,
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            clobber_abi("C"),
        );
    }
    restored != 0
}

/// Goes back to where [`take`] returned. Everything is as it was there when `meanwhile` is called,
/// on a stack of its own, with a copy of `kept`.
///
/// # Safety
/// [`take`] must have returned in this process, which must have no other thread. `meanwhile` must
/// be fit to be called with a pointer to a `T`.
pub unsafe fn restore<T: Copy>(kept: T, meanwhile: unsafe extern "C" fn(*const T)) -> ! {
    const { assert!(size_of::<T>() <= PAGE && align_of::<T>() <= PAGE) }
    let Memory { copies, bytes, .. } = process().snapshot.memory.get();
    let place = copies.wrapping_add(bytes + MAX_STACK + OWN_STACK).cast::<T>();
    // SAFETY: `allocate` made room for a page there, which nobody else uses. It is aligned as pages
    // are: what lies before it in the mapping are whole pages.
    unsafe { place.write(kept) };
    // SAFETY: the stack that ends at `place` is used by nobody else and aligned for a call. The
    // function never returns, so that nothing on the present stack is needed any more.
    unsafe {
        asm!(
            "mov rsp, rdi",
            "xor ebp, ebp",
            "call {restore}",
            "ud2",
            in("rdi") place,
            in("rsi") meanwhile,
            restore = in(reg) restore_memory as *const (),
            options(noreturn),
        )
    }
}

impl Memory {
    const NONE: Memory = Memory {
        regions: [Region::EMPTY; MAX_REGIONS],
        count: 0,
        stack_end: 0,
        copies: null_mut(),
        bytes: 0,
    };

    fn note(&mut self, mapping: &Mapping) {
        if !mapping.is_private_and_writable {
            return;
        }
        let here = (&raw const *mapping) as usize;
        if mapping.start <= here && here < mapping.end {
            self.stack_end = mapping.end;
        } else {
            self.add(Region { start: mapping.start, len: mapping.end - mapping.start });
        }
    }

    fn add(&mut self, region: Region) {
        match self.regions.get_mut(self.count) {
            Some(slot) => *slot = region,
            None => self.stack_end = 0,
        }
        self.count = self.count.wrapping_add(1);
        self.bytes = self.bytes.saturating_add(region.len);
    }

    fn allocate(&mut self) {
        if self.stack_end != 0 && self.bytes <= MAX_BYTES {
            self.bytes = self.bytes.next_multiple_of(PAGE);
            self.copies = sys::map(Map::Private, self.bytes + MAX_STACK + OWN_STACK + PAGE).cast();
        }
    }

    /// Calls `each` with a page of the program, its copy and their length wherever the two differ.
    ///
    /// # Safety
    /// There must be copies, the regions and `stack` must be mapped, and `stack` be no longer than
    /// [`MAX_STACK`].
    unsafe fn for_differences(&self, stack: Region, each: impl Fn(*mut u8, *mut u8, usize)) {
        let mut copy = self.copies;
        for region in self.regions.iter().take(self.count).chain([&stack]) {
            let mut done = 0;
            while done < region.len {
                let len = (region.len - done).min(PAGE);
                let page = (region.start as *mut u8).wrapping_add(done);
                // SAFETY: `page` lies in a region, which is mapped; copies lie one after the other,
                // in memory that has room for all regions and the largest stack.
                if unsafe { sys::memcmp(page.cast(), copy.cast(), len) } != 0 {
                    each(page, copy, len);
                }
                copy = copy.wrapping_add(len);
                done = done.wrapping_add(len);
            }
        }
    }
}

/// Copies memory, the stack from `stack` on included.
///
/// # Safety
/// As for [`take`], which alone calls this.
unsafe extern "C" fn copy_memory(stack: usize) {
    let state = &process().snapshot;
    let memory = state.memory.get();
    let len = memory.stack_end.saturating_sub(stack).min(MAX_STACK);
    let stack = Region { start: stack, len };
    let signals = sys::blocked_signals();
    // Before the copying: the state itself is among the pages.
    state.start.set(Start { stack, heap_end: sys::heap_end(), signals });
    let keep = |page: *mut u8, copy: *mut u8, len| {
        // SAFETY: both have `len` bytes, and no region holds copies: those were mapped after the
        // regions were found.
        unsafe { sys::memcpy(copy.cast(), page.cast(), len) };
    };
    // SAFETY: there are copies; the program has not gone on since its regions were found, and the
    // stack is mapped from here to its end.
    unsafe { memory.for_differences(stack, keep) };
}

/// Restores everything but the registers; runs on a stack of our own.
///
/// # Safety
/// As for [`restore`], which alone calls this: `kept` is what `meanwhile` takes.
unsafe extern "C" fn restore_memory(
    kept: *const c_void,
    meanwhile: unsafe extern "C" fn(*const c_void),
) -> ! {
    let state = &process().snapshot;
    // The state itself is among the pages: what leads the way must not change while they are
    // written.
    let (memory, start, context) = (state.memory.get(), state.start.get(), state.context.get());
    // SAFETY: the heap ended there when the run began; nothing above is in use any more.
    unsafe { shrink_heap(start.heap_end.cast()) };
    let put_back = |page: *mut u8, copy: *mut u8, len| {
        // SAFETY: both have `len` bytes, and no region holds copies. The page was writable when the
        // regions were found, and nothing of the program runs that could see it change.
        unsafe { sys::memcpy(page.cast(), copy.cast(), len) };
    };
    // SAFETY: `take` made the copies, with this stack. The heap has at least its old size again.
    unsafe { memory.for_differences(start.stack, put_back) };
    sys::block_signals(&start.signals);
    sys::alarm(0);
    // SAFETY: the two fit, says `restore`.
    unsafe { meanwhile(kept) };
    // SAFETY: memory and stack are as they were when `take` wrote the context.
    unsafe { go_on(&context) }
}

/// Makes the heap end at `end` for the C library, and what lies above it as empty as new memory. A
/// heap that grew a little keeps its pages: to get them again would cost each run a fault for each.
///
/// # Safety
/// The heap must have ended at `end` before, and nothing above may be in use.
unsafe fn shrink_heap(end: *mut u8) {
    const LITTLE: usize = 1 << 20;
    static ZEROS: [u8; PAGE] = [0; PAGE];
    let grown = (sys::heap_end() as usize).wrapping_sub(end as usize);
    if grown > LITTLE {
        // SAFETY: what is unmapped lies above `end`; what is mapped, if the heap shrank, was its.
        unsafe { sys::brk(end.cast()) };
        return;
    }
    for at in (0..grown).step_by(PAGE) {
        let (page, len) = (end.wrapping_add(at).cast(), PAGE.min(grown - at));
        // SAFETY: these bytes lie between the old and the present end of the heap, so that they are
        // mapped, and unused.
        unsafe {
            if sys::memcmp(page, (&raw const ZEROS).cast(), len) != 0 {
                sys::memset(page, 0, len);
            }
        }
    }
}

/// Goes on where [`take`] wrote the context.
///
/// # Safety
/// Memory and stack must be as they were there.
unsafe fn go_on(context: *const Context) -> ! {
    // SAFETY: `take` tells the compiler that all registers but those that are loaded here change;
    // the context is not on the stack that becomes the present one.
    unsafe {
        asm!(
            "mov rbx, [rdi]",
            "mov rbp, [rdi + 8]",
            "mov rsp, [rdi + 16]",
            "ldmxcsr [rdi + 32]",
            "fldcw [rdi + 36]",
            "mov eax, 1",
            "jmp [rdi + 24]",
            in("rdi") context,
            options(noreturn),
        )
    }
}

/// A line of `/proc/self/maps`.
#[derive(Clone, Copy, Default)]
struct Mapping {
    start: usize,
    end: usize,
    is_private_and_writable: bool,
}

/// Reads `start-end rw-p ...`, byte by byte.
#[derive(Default)]
struct Line {
    mapping: Mapping,
    field: u32,
    permissions: u32,
}

impl Line {
    /// The mapping once its line ends.
    fn take(&mut self, byte: u8) -> Option<Mapping> {
        match (byte, self.field) {
            (b'\n', _) => {
                let mut mapping = core::mem::take(self).mapping;
                mapping.is_private_and_writable &= mapping.start < mapping.end;
                return Some(mapping);
            }
            (b'-', 0) | (b' ', _) => self.field = self.field.saturating_add(1),
            (digit, 0) => {
                self.mapping.start = self.mapping.start.wrapping_mul(16).wrapping_add(hex(digit))
            }
            (digit, 1) => {
                self.mapping.end = self.mapping.end.wrapping_mul(16).wrapping_add(hex(digit))
            }
            (letter, 2) => {
                self.permissions = self.permissions << 8 | u32::from(letter);
                let both = u32::from_be_bytes([0, b'w', 0, b'p']);
                self.mapping.is_private_and_writable = self.permissions & 0x00ff_00ff == both;
            }
            _ => {}
        }
        None
    }
}

fn hex(digit: u8) -> usize {
    let value = if digit >= b'a' {
        digit.wrapping_sub(b'a').wrapping_add(10)
    } else {
        digit.wrapping_sub(b'0')
    };
    usize::from(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mappings(text: &str) -> Vec<(usize, usize)> {
        let mut line = Line::default();
        let all = text.bytes().filter_map(|byte| line.take(byte));
        all.filter(|mapping| mapping.is_private_and_writable).map(|m| (m.start, m.end)).collect()
    }

    #[test]
    fn writable_and_private_mappings_are_found() {
        let text = "55d0c2a00000-55d0c2a01000 r--p 00000000 fe:00 1  /bin/rw-p\n\
                    55d0c2a05000-55d0c2a0f000 rw-p 00004000 fe:00 1  /bin/cat\n\
                    7f0000000000-7f0000001000 rw-s 00000000 00:01 2  /memfd:a - b\n\
                    7f0000002000-7f0000003000 rwxp 00000000 00:00 0 \n\
                    7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0  [stack]\n";
        let expected = [
            (0x55d0_c2a0_5000, 0x55d0_c2a0_f000),
            (0x7f00_0000_2000, 0x7f00_0000_3000),
            (0x7ffd_0000_0000, 0x7ffd_0002_1000),
        ];
        assert_eq!(mappings(text), expected);
    }

    #[test]
    fn a_broken_line_is_no_mapping() {
        assert_eq!(mappings("\n- rw-p\nzz rw-p\n20-10 rw-p x\n"), []);
    }
}
