//! A process as it was when its run began, so that it can begin again: one restored process after the other costs a fraction of
//! one forked process after the other.
//!
//! Kept are the writable pages of the program, its libraries and its heap, the stack above the place where runs begin, and what
//! the processor needs to go on there. Memory that is mapped later is left alone: nothing leads to it any more. Memory
//! of the runtime's own (labels, expressions) is not kept; whoever rewinds empties it before. Only pages that differ
//! are written.
//!
//! The code runs inside the target: it must not allocate or panic. It knows nothing of inputs, labels or the driver.

use crate::sys;
use core::arch::asm;
use core::ffi::c_void;
use core::ptr::null_mut;

const PAGE: usize = 4096;
const MOST_REGIONS: usize = 64;
/// A program with more writable memory than this is cheaper to fork than to compare.
const MOST_BYTES: usize = 2 << 20;
const MOST_STACK: usize = 256 << 10;
/// The stack on which the other one is written.
const OWN_STACK: usize = 64 << 10;

#[derive(Clone, Copy)]
struct Region {
    start: usize,
    len: usize,
}

/// What the processor needs to go on where [`begin`] returned.
#[derive(Clone, Copy)]
#[repr(C)]
struct Context {
    /// rbx, rbp, rsp, and where to go. The compiler saves all others.
    registers: [usize; 4],
    /// Control words of the floating-point units.
    mxcsr: u32,
    x87: u32,
}

struct Snapshot {
    regions: [Region; MOST_REGIONS],
    count: usize,
    /// The end of the main thread's stack; 0 if no snapshot can be taken.
    stack_end: usize,
    /// Copies of the regions one after the other, then of the stack; behind them a stack of our own, then a page for what is kept.
    copies: *mut u8,
    bytes: usize,
    stack: Region,
    /// End of the heap that the kernel was asked for.
    heap_end: *mut c_void,
    signals: sys::SigSet,
    context: Context,
}

static mut SNAPSHOT: Snapshot = Snapshot {
    regions: [Region { start: 0, len: 0 }; MOST_REGIONS],
    count: 0,
    stack_end: 0,
    copies: null_mut(),
    bytes: 0,
    stack: Region { start: 0, len: 0 },
    heap_end: null_mut(),
    signals: [0; 16],
    context: Context { registers: [0; 4], mxcsr: 0, x87: 0 },
};

/// Finds the memory of the program, once and before the first snapshot. Addresses for which `is_own` holds belong to the runtime and are
/// left out, but for `described`, which says something about the program's memory. What is mapped
/// afterwards is not part of snapshots.
pub unsafe fn survey(is_own: impl Fn(usize) -> bool, described: Option<(usize, usize)>) {
    // SAFETY: nothing else looks at the snapshot yet; the buffer takes what is read.
    unsafe {
        let file = sys::open(c"/proc/self/maps".as_ptr(), 0);
        if file < 0 {
            return;
        }
        let snapshot = &raw mut SNAPSHOT;
        if let Some((start, len)) = described {
            (*snapshot).add(Region { start, len });
        }
        let mut line = Line::default();
        let mut text = [0u8; PAGE];
        loop {
            let got = sys::read(file, text.as_mut_ptr().cast(), text.len());
            if got <= 0 {
                break;
            }
            for &byte in text.iter().take(got as usize) {
                if let Some(mapping) = line.take(byte)
                    && !is_own(mapping.start)
                {
                    (*snapshot).note(&mapping);
                }
            }
        }
        sys::close(file);
        (*snapshot).allocate();
    }
}

/// Whether this process can begin again.
pub unsafe fn is_possible() -> bool {
    // SAFETY: a plain read.
    unsafe { !SNAPSHOT.copies.is_null() }
}

/// Takes the snapshot and returns false; returns true whenever the process is rewound.
///
/// # Safety
/// [`is_possible`], on the main thread.
pub unsafe fn begin() -> bool {
    // The compiler need not know that this returns again: as after a fork, all memory and all registers that a call preserves are
    // then as they were.
    let rewound: u32;
    // SAFETY: the context is written here only; [`go_on`] jumps to where `keep` returned.
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
            inout("rdi") &raw mut SNAPSHOT.context => _,
            inout("rsi") keep as *const () => _,
            lateout("eax") rewound,
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            clobber_abi("C"),
        );
    }
    rewound != 0
}

/// Goes back to where [`begin`] returned. Everything is as it was there when `meanwhile` is called, on a stack of its own, with a copy of
/// `kept`.
///
/// # Safety
/// [`begin`] must have returned in this process.
pub unsafe fn rewind<T: Copy>(kept: T, meanwhile: unsafe extern "C" fn(*const T)) -> ! {
    const { assert!(size_of::<T>() <= PAGE && align_of::<T>() <= PAGE) }
    // SAFETY: the stack of our own is in use by nobody else; what is kept lies behind it, at an aligned address.
    unsafe {
        let place = SNAPSHOT.copies.add(SNAPSHOT.bytes + MOST_STACK + OWN_STACK).cast::<T>();
        place.write(kept);
        asm!(
            "mov rsp, rdi",
            "xor ebp, ebp",
            "call {restore}",
            "ud2",
            in("rdi") place,
            in("rsi") meanwhile,
            restore = in(reg) restore as *const (),
            options(noreturn),
        )
    }
}

impl Snapshot {
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

    unsafe fn allocate(&mut self) {
        if self.stack_end == 0 || self.bytes > MOST_BYTES {
            return;
        }
        let size = self.bytes + MOST_STACK + OWN_STACK + PAGE;
        let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE;
        // SAFETY: a new anonymous mapping disturbs nothing.
        let memory = unsafe { sys::mmap(null_mut(), size, sys::PROT_READ_WRITE, flags, -1, 0) };
        if memory as isize != -1 {
            self.copies = memory.cast();
        }
    }

    /// Calls `each` with a page of the program and its copy wherever the two differ.
    unsafe fn for_differences(&self, each: impl Fn(*mut u8, *mut u8, usize)) {
        let mut copy = self.copies;
        let regions = self.regions.iter().take(self.count).chain([&self.stack]);
        for region in regions {
            let mut done = 0;
            while done < region.len {
                let len = (region.len - done).min(PAGE);
                // SAFETY: regions are mapped, and their copies lie one after the other.
                unsafe {
                    let page = (region.start as *mut u8).wrapping_add(done);
                    if sys::memcmp(page.cast(), copy.cast(), len) != 0 {
                        each(page, copy, len);
                    }
                    copy = copy.wrapping_add(len);
                }
                done = done.wrapping_add(len);
            }
        }
    }
}

/// Copies memory, the stack from `stack` on included.
unsafe extern "C" fn keep(stack: usize) {
    // SAFETY: the regions were writable; a page is copied onto its own copy.
    unsafe {
        let len = SNAPSHOT.stack_end.saturating_sub(stack).min(MOST_STACK);
        SNAPSHOT.stack = Region { start: stack, len };
        SNAPSHOT.heap_end = sys::sbrk(0);
        sys::sigprocmask(sys::SIG_SETMASK, null_mut(), &raw mut SNAPSHOT.signals);
        let snapshot = &raw const SNAPSHOT;
        (*snapshot).for_differences(|page, copy, len| {
            sys::memcpy(copy.cast(), page.cast(), len);
        });
    }
}

/// Restores everything but the registers; runs on a stack of our own.
unsafe extern "C" fn restore(kept: *const c_void, meanwhile: unsafe extern "C" fn(*const c_void)) -> ! {
    // SAFETY: the heap has its old size before its pages are written; copies are those of `keep`.
    unsafe {
        shrink_heap(SNAPSHOT.heap_end.cast());
        // The static itself is among the pages: what leads through it must not change while they are written.
        let snapshot = core::ptr::read(&raw const SNAPSHOT);
        snapshot.for_differences(|page, copy, len| {
            sys::memcpy(page.cast(), copy.cast(), len);
        });
        sys::sigprocmask(sys::SIG_SETMASK, &raw const snapshot.signals, null_mut());
        sys::alarm(0);
        meanwhile(kept);
        go_on(&raw const SNAPSHOT.context)
    }
}

/// Makes the heap end at `end` for the C library, and what lies behind it as empty as new memory. A heap that grew a little keeps its
/// pages: to get them again would cost each run a fault for each.
unsafe fn shrink_heap(end: *mut u8) {
    const LITTLE: usize = 1 << 20;
    // SAFETY: memory between the two ends is the heap's.
    unsafe {
        let grown = (sys::sbrk(0) as usize).wrapping_sub(end as usize);
        if grown > LITTLE {
            sys::brk(end.cast());
            return;
        }
        for at in (0..grown).step_by(PAGE) {
            let page = end.add(at);
            if sys::memcmp(page.cast(), (&raw const ZEROS).cast(), PAGE.min(grown - at)) != 0 {
                sys::memset(page.cast(), 0, PAGE.min(grown - at));
            }
        }
    }
}

static ZEROS: [u8; PAGE] = [0; PAGE];

/// Goes on where [`begin`] wrote the context.
unsafe fn go_on(context: *const Context) -> ! {
    // SAFETY: memory and stack are as they were there.
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
            (digit, 0) => self.mapping.start = self.mapping.start.wrapping_mul(16).wrapping_add(hex(digit)),
            (digit, 1) => self.mapping.end = self.mapping.end.wrapping_mul(16).wrapping_add(hex(digit)),
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
    let value =
        if digit >= b'a' { digit.wrapping_sub(b'a').wrapping_add(10) } else { digit.wrapping_sub(b'0') };
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
