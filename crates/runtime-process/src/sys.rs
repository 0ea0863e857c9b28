//! The C library functions that this crate calls, declared by hand, and safe functions around them.
//!
//! The crate links into programs of any language and must not bring a second copy of anything
//! along, so it uses the target's own C library. Layouts are those of 64-bit Linux (x86-64 and
//! AArch64 agree on every field that is used).
//!
//! Declarations take raw pointers where references would do. The compiler promises of a reference
//! that it is neither null nor an alias; once both are one module, that promise would also be made
//! for the calls by which the program itself uses the function.

use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::ptr::{from_mut, null, null_mut};

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
pub const MSG_NOSIGNAL: c_int = 0x4000;
pub const MSG_PEEK: c_int = 2;
pub const CLOCK_MONOTONIC: c_int = 1;
pub const O_CLOEXEC: c_int = 0x80000;

const PROT_READ_WRITE: c_int = 3;
const MAP_SHARED: c_int = 1;
const MAP_PRIVATE: c_int = 2;
const MAP_ANONYMOUS: c_int = 0x20;
const MAP_NORESERVE: c_int = 0x4000;
const SIG_SETMASK: c_int = 2;
const RUSAGE_SELF: c_int = 0;
const PR_SET_PDEATHSIG: c_int = 1;
const PR_SET_CHILD_SUBREAPER: c_int = 36;
/// System call numbers from 424 on are the same on every architecture.
const SYS_PIDFD_OPEN: c_long = 434;
const SYS_CLOSE_RANGE: c_long = 436;

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
    max_rss_kib: i64,
    rest: [i64; 13],
}

impl Usage {
    /// What this process has used so far.
    pub fn of_this_process() -> Usage {
        let mut usage = Usage::default();
        // SAFETY: `Usage` has the layout and size of the structure that the call fills.
        unsafe { getrusage(RUSAGE_SELF, &mut usage) };
        usage
    }

    pub fn cpu_time_us(&self) -> u64 {
        let [user, user_us, system, system_us] = self.times;
        (user + system).wrapping_mul(1_000_000).wrapping_add(user_us + system_us).max(0) as u64
    }

    /// Largest resident set.
    pub fn max_rss_kib(&self) -> u32 {
        self.max_rss_kib.clamp(0, i64::from(u32::MAX)) as u32
    }
}

/// `struct sigaction`, only ever passed back as it was read, or all zero but for the handler:
/// without flags, and 0 for the default action.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct SigAction {
    handler: usize,
    rest: [u64; 18],
}

impl SigAction {
    pub fn calling(handler: unsafe extern "C" fn(c_int)) -> SigAction {
        SigAction { handler: handler as usize, ..SigAction::default() }
    }

    pub fn is_default(&self) -> bool {
        self.handler == 0
    }
}

/// `sigset_t`.
pub type SigSet = [u64; 16];

/// `siginfo_t`, which begins with the signal.
pub type SigInfo = [i32; 32];

unsafe extern "C" {
    pub safe fn getpid() -> c_int;
    pub safe fn setpgid(pid: c_int, group: c_int) -> c_int;
    pub safe fn kill(pid: c_int, signal: c_int) -> c_int;
    pub safe fn dup(fd: c_int) -> c_int;
    pub safe fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    pub safe fn alarm(seconds: u32) -> u32;
    pub safe fn _exit(code: c_int) -> !;

    pub fn getenv(name: *const c_char) -> *mut c_char;
    pub fn unsetenv(name: *const c_char) -> c_int;
    /// Variants have another `fork` for the program.
    #[link_name = "__fork"]
    pub fn fork() -> c_int;
    /// Of the GNU C library: `handler` gets the exit code and `argument`.
    pub fn on_exit(
        handler: unsafe extern "C" fn(c_int, *mut c_void),
        argument: *mut c_void,
    ) -> c_int;
    pub fn close(fd: c_int) -> c_int;
    pub fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int;
    pub fn recv(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int) -> isize;
    pub fn send(fd: c_int, bytes: *const c_void, len: usize, flags: c_int) -> isize;
    pub fn brk(end: *mut c_void) -> c_int;
    pub fn memcmp(a: *const c_void, b: *const c_void, size: usize) -> c_int;
    pub fn memset(to: *mut c_void, byte: c_int, size: usize) -> *mut c_void;
    pub fn memcpy(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void;

    static mut stdin: *mut c_void;
    fn fflush(stream: *mut c_void) -> c_int;
    fn __fpurge(stream: *mut c_void);
    fn clearerr(stream: *mut c_void);
    fn mmap(
        at: *mut c_void,
        len: usize,
        prot: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn fstat(fd: c_int, stat: *mut Stat) -> c_int;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn read(fd: c_int, buffer: *mut c_void, len: usize) -> isize;
    fn write(fd: c_int, buffer: *const c_void, len: usize) -> isize;
    fn wait4(pid: c_int, status: *mut c_int, options: c_int, usage: *mut Usage) -> c_int;
    fn waitid(kind: c_int, id: c_int, info: *mut SigInfo, options: c_int) -> c_int;
    fn getrusage(who: c_int, usage: *mut Usage) -> c_int;
    fn poll(fds: *mut PollFd, count: u64, timeout_ms: c_int) -> c_int;
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
    fn nanosleep(time: *const Timespec, rest: *mut Timespec) -> c_int;
    fn prctl(option: c_int, ...) -> c_int;
    fn sigaction(signal: c_int, new: *const SigAction, old: *mut SigAction) -> c_int;
    fn sigprocmask(how: c_int, new: *const SigSet, old: *mut SigSet) -> c_int;
    fn sbrk(by: isize) -> *mut c_void;
    fn syscall(number: c_long, ...) -> c_long;
    fn __errno_location() -> *mut c_int;
}

/// The error number of the last call that failed.
pub fn errno() -> c_int {
    // SAFETY: the C library returns a valid pointer to this thread's variable.
    unsafe { *__errno_location() }
}

/// A descriptor that its owner closes.
pub struct Descriptor(c_int);

impl Descriptor {
    /// A file to read.
    pub fn open(path: &CStr) -> Option<Descriptor> {
        // SAFETY: the path ends with a zero byte; without `O_CREAT` no further argument is read.
        Descriptor::made(unsafe { open(path.as_ptr(), 0) })
    }

    /// Of a process; `None` with kernels that have none (before 5.3).
    pub fn of_process(pid: c_int) -> Option<Descriptor> {
        // SAFETY: the call takes two numbers.
        Descriptor::made(unsafe { syscall(SYS_PIDFD_OPEN, pid, 0) as c_int })
    }

    fn made(number: c_int) -> Option<Descriptor> {
        (number >= 0).then_some(Descriptor(number))
    }

    pub fn number(&self) -> c_int {
        self.0
    }

    /// The next bytes; none at the end of the file or if it cannot be read.
    pub fn read<'a>(&self, buffer: &'a mut [u8]) -> &'a [u8] {
        // SAFETY: the kernel writes at most the buffer's length into it.
        let got = unsafe { read(self.0, buffer.as_mut_ptr().cast(), buffer.len()) };
        buffer.get(..got.max(0) as usize).unwrap_or_default()
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: this value is the only owner of the number, and nobody uses it afterwards.
        unsafe { close(self.0) };
    }
}

/// Closes all descriptors from `first` to `last`; false with kernels that cannot (before 5.9).
///
/// # Safety
/// None of them may be in use any more.
pub unsafe fn close_range(first: c_int, last: c_int) -> bool {
    // SAFETY: the call takes three numbers; the caller gives the descriptors up.
    unsafe { syscall(SYS_CLOSE_RANGE, first, last, 0) == 0 }
}

/// `None` if the descriptor is not open.
pub fn stat(fd: c_int) -> Option<Stat> {
    let mut stat = Stat::default();
    // SAFETY: `Stat` has the layout and size of the structure that the call fills.
    let is_open = unsafe { fstat(fd, &mut stat) == 0 };
    is_open.then_some(stat)
}

/// Prints on standard error.
pub fn complain(message: &str) {
    // SAFETY: the kernel reads as many bytes as the message has.
    unsafe { write(2, message.as_ptr().cast(), message.len()) };
}

/// What to map.
pub enum Map {
    /// New memory that children share.
    Shared,
    /// New memory that is only counted once it is written.
    Private,
    /// A file, shared with whoever maps it, too.
    File(c_int),
}

/// Memory to read and write at a new place; null if the kernel refuses.
pub fn map(what: Map, len: usize) -> *mut c_void {
    let (flags, fd) = match what {
        Map::Shared => (MAP_SHARED | MAP_ANONYMOUS, -1),
        Map::Private => (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1),
        Map::File(fd) => (MAP_SHARED, fd),
    };
    // SAFETY: without `MAP_FIXED` the kernel takes addresses at which nothing is mapped yet.
    let memory = unsafe { mmap(null_mut(), len, PROT_READ_WRITE, flags, fd, 0) };
    if memory as isize == -1 { null_mut() } else { memory }
}

/// Where the heap that the kernel was asked for ends.
pub fn heap_end() -> *mut c_void {
    // SAFETY: moved by 0, the end stays where it is.
    unsafe { sbrk(0) }
}

/// As `wait4`.
pub fn wait(pid: c_int, status: &mut c_int, options: c_int, usage: Option<&mut Usage>) -> c_int {
    // SAFETY: both places are exclusively ours; null says that the usage is not wanted.
    unsafe { wait4(pid, status, options, usage.map_or(null_mut(), from_mut)) }
}

/// As `waitid`.
pub fn wait_id(kind: c_int, id: c_int, info: Option<&mut SigInfo>, options: c_int) -> c_int {
    // SAFETY: `SigInfo` has the 128 bytes that the kernel writes; to null it writes nothing.
    unsafe { waitid(kind, id, info.map_or(null_mut(), from_mut), options) }
}

/// As `poll`: how many of `fds` are ready; negative if the call was interrupted.
pub fn wait_until_ready(fds: &mut [PollFd], timeout_ms: c_int) -> c_int {
    // SAFETY: pointer and count are those of one slice.
    unsafe { poll(fds.as_mut_ptr(), fds.len() as u64, timeout_ms) }
}

/// Time of a clock in microseconds; 0 if there is no such clock.
pub fn clock_us(clock: c_int) -> u64 {
    let mut time = Timespec::default();
    // SAFETY: `Timespec` has the layout and size of the structure that the call fills.
    unsafe { clock_gettime(clock, &mut time) };
    (time.seconds as u64).wrapping_mul(1_000_000).wrapping_add(time.nanoseconds as u64 / 1000)
}

pub fn sleep(time: &Timespec) {
    // SAFETY: the time is only read; null says that the rest is not wanted.
    unsafe { nanosleep(time, null_mut()) };
}

/// The signal that this process gets when its parent dies; 0 for none.
pub fn set_parent_death_signal(signal: c_int) {
    // SAFETY: this option takes numbers only.
    unsafe { prctl(PR_SET_PDEATHSIG, signal as usize, 0usize, 0usize, 0usize) };
}

/// From now on, orphans among the descendants of this process become its children.
pub fn become_subreaper() {
    // SAFETY: this option takes numbers only.
    unsafe { prctl(PR_SET_CHILD_SUBREAPER, 1usize, 0usize, 0usize, 0usize) };
}

/// What happens at a signal.
pub fn action_at(signal: c_int) -> Option<SigAction> {
    let mut action = SigAction::default();
    // SAFETY: `SigAction` has the layout and size of the structure that the call fills; null says
    // that nothing is to change.
    let is_read = unsafe { sigaction(signal, null(), &mut action) == 0 };
    is_read.then_some(action)
}

/// Returns what would have happened before.
///
/// # Safety
/// The handler, if there is one, may interrupt this process wherever it is.
pub unsafe fn set_action_at(signal: c_int, action: &SigAction) -> SigAction {
    let mut before = SigAction::default();
    // SAFETY: as for `action_at`; the caller answers for the handler.
    unsafe { sigaction(signal, action, &mut before) };
    before
}

/// The signals that are blocked.
pub fn blocked_signals() -> SigSet {
    let mut signals = [0; 16];
    // SAFETY: `SigSet` has the size that the C library writes; null says that nothing is to change.
    unsafe { sigprocmask(SIG_SETMASK, null(), &mut signals) };
    signals
}

pub fn block_signals(signals: &SigSet) {
    // SAFETY: the set is only read; null says that the one before is not wanted.
    unsafe { sigprocmask(SIG_SETMASK, signals, null_mut()) };
}

/// Writes what the C library's streams still hold.
pub fn flush_streams() {
    // SAFETY: null stands for all streams, which the C library itself keeps track of.
    unsafe { fflush(null_mut()) };
}

/// Lets the C library read standard input from the descriptor again.
///
/// # Safety
/// The program must not have closed the stream `stdin`.
pub unsafe fn reset_stdin() {
    // SAFETY: the variable holds an open stream from before `main` on, and the caller says that it
    // is open still.
    unsafe {
        __fpurge(stdin);
        clearerr(stdin);
    }
}
