//! The few things that the runtime needs from the C library and the kernel.

use core::ffi::{c_int, c_long, c_void};
use core::ptr::null_mut;

unsafe extern "C" {
    pub fn memset(to: *mut c_void, byte: c_int, size: usize) -> *mut c_void;
    pub fn memcmp(a: *const c_void, b: *const c_void, size: usize) -> c_int;
    pub fn memcpy(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void;
    pub fn memmove(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void;
    pub safe fn sched_yield() -> c_int;
    pub safe fn abort() -> !;
    pub fn write(fd: c_int, bytes: *const c_void, size: usize) -> isize;
    pub safe fn _exit(code: c_int) -> !;
    pub safe fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    fn mmap(
        at: *mut c_void,
        size: usize,
        protection: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn mremap(from: *mut c_void, old_size: usize, size: usize, flags: c_int, ...) -> *mut c_void;
    fn madvise(at: *mut c_void, size: usize, advice: c_int) -> c_int;
    fn mprotect(at: *mut c_void, size: usize, protection: c_int) -> c_int;
    fn munmap(at: *mut c_void, size: usize) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
    #[link_name = "__errno_location"]
    pub safe fn errno() -> *mut c_int;
}

const PROT_READ_WRITE: c_int = 3;
const MAP_PRIVATE: c_int = 2;
const MAP_ANONYMOUS: c_int = 0x20;
const MAP_NORESERVE: c_int = 0x4000;
const MAP_FIXED_NOREPLACE: c_int = 0x10_0000;
const MAP_FAILED: usize = usize::MAX;
pub const SEEK_CUR: c_int = 1;

/// Reserves zeroed memory at a fixed place, unless something else is there.
pub fn reserve(at: usize, size: usize) -> bool {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    // SAFETY: MAP_FIXED_NOREPLACE never replaces a mapping.
    unsafe { mmap(at as *mut c_void, size, PROT_READ_WRITE, flags, -1, 0) as usize == at }
}

/// Zeroed memory; null if there is none.
pub fn allocate(size: usize) -> *mut c_void {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    // SAFETY: a new anonymous mapping disturbs nothing.
    let at = unsafe { mmap(null_mut(), size, PROT_READ_WRITE, flags, -1, 0) };
    if at as usize == MAP_FAILED { null_mut() } else { at }
}

/// Zeroed memory that processes which are forked from now on share; null if there is none.
pub fn allocate_shared(size: usize) -> *mut c_void {
    const MAP_SHARED: c_int = 1;
    // SAFETY: a new anonymous mapping disturbs nothing.
    let at = unsafe { mmap(null_mut(), size, PROT_READ_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) };
    if at as usize == MAP_FAILED { null_mut() } else { at }
}

/// The number of this process.
pub fn process() -> u32 {
    const SYS_GETPID: c_long = 39;
    // SAFETY: the call takes nothing, and always succeeds.
    unsafe { syscall(SYS_GETPID) as u32 }
}

/// As [`allocate`], after a page that nobody may touch: what is read just before it is seen, whatever else
/// is mapped.
pub fn allocate_after_guard(size: usize) -> *mut c_void {
    const PROT_NONE: c_int = 0;
    const PAGE: usize = 4096;
    let at = allocate(PAGE + size);
    if at.is_null() {
        return at;
    }
    // SAFETY: the first page of the new mapping is in nobody's use.
    unsafe { mprotect(at, PAGE, PROT_NONE) };
    at.wrapping_byte_add(PAGE)
}

/// Zeroed memory whose pages are there at once: one call costs less than a fault for each page.
pub fn allocate_populated(size: usize) -> *mut c_void {
    let at = allocate(size);
    if !at.is_null() {
        ask_for_large_pages(at, size);
        populate(at.cast(), size);
    }
    at
}

/// What is read all over costs a walk through the page table each time, unless its pages are large.
/// Kernels may refuse, which costs time only.
fn ask_for_large_pages(at: *mut c_void, size: usize) {
    const MADV_HUGEPAGE: c_int = 14;
    const LARGE: usize = 2 << 20;
    if size >= LARGE {
        // SAFETY: how large pages are changes nothing of what is in them.
        unsafe { madvise(at, size, MADV_HUGEPAGE) };
    }
}

/// Makes pages that are about to be written present. Kernels before 5.14 refuse, which costs time
/// only.
pub fn populate(at: *mut u8, size: usize) {
    const MADV_POPULATE_WRITE: c_int = 23;
    const PAGE: usize = 4096;
    let start = at as usize & !(PAGE - 1);
    // SAFETY: the advice leaves the content of pages as it is, and fails where there are none.
    unsafe { madvise(start as *mut c_void, at as usize + size - start, MADV_POPULATE_WRITE) };
}

/// Makes memory zero again.
///
/// # Safety
/// The memory is from [`allocate`], and nobody holds a reference into it.
pub unsafe fn zero(at: *mut c_void, size: usize) {
    const MADV_DONTNEED: c_int = 4;
    const MANY: usize = 64 << 10;
    // SAFETY: the caller's promise; pages of a private anonymous mapping are zero once they were
    // given back.
    unsafe {
        if size < MANY || madvise(at, size, MADV_DONTNEED) != 0 {
            memset(at, 0, size);
        }
    }
}

/// Gives memory back.
///
/// # Safety
/// The memory is from [`allocate`] with this size, and nobody uses it any more.
pub unsafe fn release(at: *mut c_void, size: usize) {
    // SAFETY: the caller's promise.
    unsafe { munmap(at, size) };
}

/// Makes the shared memory at `from` appear at `at` as well, in place of what was there.
///
/// # Safety
/// The pages at `at` are the caller's to replace, and there is a shared mapping at `from`.
pub unsafe fn map_over(at: usize, from: usize, size: usize) -> bool {
    const MREMAP_MAYMOVE: c_int = 1;
    const MREMAP_FIXED: c_int = 2;
    let flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    // SAFETY: the caller's promise; an old size of 0 leaves the mapping at `from` as it is.
    unsafe { mremap(from as *mut c_void, 0, size, flags, at as *mut c_void) as usize == at }
}

/// `mmap`, past whatever has its name in the program.
///
/// # Safety
/// As for `mmap`: a fixed mapping replaces only what is the caller's.
pub unsafe fn map_file(
    at: *mut c_void,
    size: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    const SYS_MMAP: c_long = 9;
    // SAFETY: the caller's promise.
    unsafe { syscall(SYS_MMAP, at, size, protection, flags, fd, offset) as *mut c_void }
}

/// `pread`, in the same way.
///
/// # Safety
/// The `size` bytes at `to` are the caller's to write.
pub unsafe fn read_at(fd: c_int, to: *mut c_void, size: usize, offset: i64) -> isize {
    const SYS_PREAD64: c_long = 17;
    // SAFETY: the caller's promise.
    unsafe { syscall(SYS_PREAD64, fd, to, size, offset) as isize }
}

/// Whether all of the memory is mapped.
pub fn is_mapped(at: usize, size: usize) -> bool {
    const PAGE: usize = 4096;
    const SYS_MSYNC: c_long = 26;
    const MS_ASYNC: c_int = 1;
    let start = at & !(PAGE - 1);
    // SAFETY: this way of asking does nothing but look whether there are mappings; the C library
    // keeps its variable as long as this thread runs.
    unsafe {
        let before = errno().read();
        let is_mapped = syscall(SYS_MSYNC, start, at + size - start, MS_ASYNC) == 0;
        errno().write(before);
        is_mapped
    }
}

/// Whether the word there can be read. What is mapped may also be there to be kept out of.
pub fn is_readable(at: usize) -> bool {
    const SYS_RT_SIGPROCMASK: c_long = 14;
    const NOTHING: c_int = -1;
    const EINVAL: c_int = 22;
    // SAFETY: the kernel reads the word, and then refuses to do nothing with it; the C library keeps
    // its variable as long as this thread runs.
    unsafe {
        let before = errno().read();
        syscall(SYS_RT_SIGPROCMASK, NOTHING, at, 0usize, size_of::<u64>());
        errno().replace(before) == EINVAL
    }
}

/// Device and inode of an open file.
pub fn file_identity(fd: c_int) -> Option<(u64, u64)> {
    const SYS_FSTAT: c_long = 5;
    /// `struct stat` of x86-64 Linux is 144 bytes and starts with device and inode.
    #[repr(C, align(8))]
    struct Stat([u64; 18]);
    let mut stat = Stat([0; 18]);
    // SAFETY: the buffer has the size that the kernel writes.
    let failed = unsafe { syscall(SYS_FSTAT, fd, &raw mut stat) } != 0;
    if failed { None } else { Some((stat.0[0], stat.0[1])) }
}

/// Whether a descriptor is a socket that takes data as datagrams.
pub fn takes_datagrams(fd: c_int) -> bool {
    const SYS_GETSOCKOPT: c_long = 55;
    const SOL_SOCKET: c_int = 1;
    const SO_TYPE: c_int = 3;
    const SOCK_DGRAM: c_int = 2;
    const SOCK_SEQPACKET: c_int = 5;
    let (mut kind, mut size): (c_int, u32) = (0, size_of::<c_int>() as u32);
    // SAFETY: the kernel writes the number and its size.
    unsafe { syscall(SYS_GETSOCKOPT, fd, SOL_SOCKET, SO_TYPE, &raw mut kind, &raw mut size) };
    kind == SOCK_DGRAM || kind == SOCK_SEQPACKET
}

/// Prints a message on standard error.
pub fn complain(message: &str) {
    // SAFETY: the bytes are valid for the length given.
    unsafe { write(2, message.as_ptr().cast(), message.len()) };
}
