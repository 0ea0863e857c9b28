//! The C library functions that the fork server calls, declared by hand.
//!
//! The runtime links into programs of any language and must not bring a second copy of anything along, so it
//! uses the target's own C library. Only declarations and plain structures belong here; layouts are those of
//! 64-bit Linux (x86-64 and AArch64 agree on every field that is used).

use core::ffi::{c_char, c_int, c_long, c_void};

pub const EINTR: c_int = 4;
pub const EAGAIN: c_int = 11;
pub const SIGILL: c_int = 4;
pub const SIGTRAP: c_int = 5;
pub const SIGABRT: c_int = 6;
pub const SIGFPE: c_int = 8;
pub const SIGKILL: c_int = 9;
pub const SIGCHLD: c_int = 17;
pub const WNOHANG: c_int = 1;
/// Wait for children of any kind, those made with `clone` and no signal included.
pub const WALL: c_int = 0x4000_0000;
pub const WEXITED: c_int = 4;
/// Leave the child as it is.
pub const WNOWAIT: c_int = 0x0100_0000;
pub const P_ALL: c_int = 0;
pub const P_PID: c_int = 1;
pub const ECHILD: c_int = 10;
pub const POLLIN: i16 = 1;
pub const POLLOUT: i16 = 4;
pub const POLLHUP: i16 = 0x10;
pub const POLLERR: i16 = 8;
pub const PROT_READ_WRITE: c_int = 3;
pub const MAP_SHARED: c_int = 1;
pub const MAP_PRIVATE: c_int = 2;
pub const MAP_ANONYMOUS: c_int = 0x20;
pub const MAP_NORESERVE: c_int = 0x4000;
pub const SIG_SETMASK: c_int = 2;
pub const MSG_NOSIGNAL: c_int = 0x4000;
pub const MSG_PEEK: c_int = 2;
pub const RUSAGE_SELF: c_int = 0;
pub const CLOCK_MONOTONIC: c_int = 1;
pub const PR_SET_PDEATHSIG: c_int = 1;
pub const PR_SET_CHILD_SUBREAPER: c_int = 36;
/// System call numbers from 424 on are the same on every architecture.
pub const SYS_PIDFD_OPEN: c_long = 434;
pub const O_CLOEXEC: c_int = 0x80000;
pub const SYS_CLOSE_RANGE: c_long = 436;

/// `struct stat`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Stat {
    pub device: u64,
    pub inode: u64,
    unused: [u64; 4],
    pub size: i64,
    rest: [u64; 11],
}

/// `struct pollfd`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct PollFd {
    pub fd: c_int,
    pub events: i16,
    pub revents: i16,
}

/// `struct timespec`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Timespec {
    pub seconds: i64,
    pub nanoseconds: i64,
}

/// `struct rusage`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Usage {
    /// Seconds and microseconds of user time, then of system time.
    times: [i64; 4],
    pub max_rss_kib: i64,
    rest: [i64; 13],
}

impl Usage {
    pub fn cpu_time_us(&self) -> u64 {
        let [user, user_us, system, system_us] = self.times;
        (user + system).wrapping_mul(1_000_000).wrapping_add(user_us + system_us).max(0) as u64
    }
}

/// `struct sigaction`, only ever passed back as it was read, or all zero but for the handler: without flags, and 0 for the default action.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct SigAction {
    pub handler: usize,
    rest: [u64; 18],
}

impl SigAction {
    pub fn calling(handler: unsafe extern "C" fn(c_int)) -> SigAction {
        SigAction { handler: handler as usize, ..SigAction::default() }
    }
}

/// `sigset_t`.
pub type SigSet = [u64; 16];

unsafe extern "C" {
    pub fn getenv(name: *const c_char) -> *mut c_char;
    pub fn unsetenv(name: *const c_char) -> c_int;
    pub fn mmap(
        at: *mut c_void,
        len: usize,
        prot: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    pub fn fstat(fd: c_int, stat: *mut Stat) -> c_int;
    pub fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    pub fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    pub fn read(fd: c_int, buffer: *mut c_void, len: usize) -> isize;
    pub fn write(fd: c_int, buffer: *const c_void, len: usize) -> isize;
    pub fn close(fd: c_int) -> c_int;
    pub fn fork() -> c_int;
    pub fn getpid() -> c_int;
    pub fn setpgid(pid: c_int, group: c_int) -> c_int;
    pub fn kill(pid: c_int, signal: c_int) -> c_int;
    pub fn wait4(pid: c_int, status: *mut c_int, options: c_int, usage: *mut Usage) -> c_int;
    pub fn waitid(kind: c_int, id: c_int, info: *mut i32, options: c_int) -> c_int;
    pub fn getrusage(who: c_int, usage: *mut Usage) -> c_int;
    pub fn recv(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int) -> isize;
    pub fn send(fd: c_int, bytes: *const c_void, len: usize, flags: c_int) -> isize;
    pub fn poll(fds: *mut PollFd, count: u64, timeout_ms: c_int) -> c_int;
    pub fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
    pub fn nanosleep(time: *const Timespec, rest: *mut Timespec) -> c_int;
    pub fn prctl(option: c_int, ...) -> c_int;
    pub fn sigaction(signal: c_int, new: *const SigAction, old: *mut SigAction) -> c_int;
    pub fn syscall(number: c_long, ...) -> c_long;
    pub fn _exit(code: c_int) -> !;
    /// Of the GNU C library: `handler` gets the exit code and `argument`.
    pub fn on_exit(handler: unsafe extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    pub fn sbrk(by: isize) -> *mut c_void;
    pub fn brk(end: *mut c_void) -> c_int;
    pub fn sigprocmask(how: c_int, new: *const SigSet, old: *mut SigSet) -> c_int;
    pub fn alarm(seconds: u32) -> u32;
    pub fn dup(fd: c_int) -> c_int;
    pub fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int;
    pub fn memcmp(a: *const c_void, b: *const c_void, size: usize) -> c_int;
    pub fn memset(to: *mut c_void, byte: c_int, size: usize) -> *mut c_void;
    pub fn memcpy(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void;
    fn __errno_location() -> *mut c_int;
}

/// The error number of the last call that failed.
///
/// # Safety
/// Always safe to call; it is `unsafe` only because it is foreign.
pub unsafe fn errno() -> c_int {
    // SAFETY: the C library returns a valid pointer to this thread's variable.
    unsafe { *__errno_location() }
}
