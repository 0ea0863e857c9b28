//! The fork server: stops the target at the start of `main`, then runs one forked child for each command of
//! the driver.
//!
//! The code runs inside the target: it must not allocate, panic, or change anything that the program could
//! notice, except that it removes its own environment variable. The driver uses [`supervise`], too, for programs
//! that have no server inside. How a run is ended, with all of its descendants, is decided here and nowhere else.

use crate::sys;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use trace::server::{Command, DONE, ENV, HELLO, Report};
use trace::{Header, SERVER_FDS};

/// Enters the fork server if the driver started this process, and returns in the child of each run with the
/// segment mapped. Returns null if the program was started without Tarragon. What all runs need alike, `prepare`
/// does once, before the first.
///
/// # Safety
/// Must be called once, at the start of `main`, on the main thread.
pub unsafe fn serve(prepare: impl FnOnce(*mut Header)) -> *mut Header {
    // SAFETY: the variable's value is a C string; the mapping that `map_segment` returns is never unmapped.
    unsafe {
        let Some(version) = announced_version() else { return null_mut() };
        sys::unsetenv(ENV.as_ptr());
        if version != Header::VERSION {
            send(&hello());
            refuse(b"tarragon: this program was built by another version of Tarragon than runs it; build it again\n");
        }
        let header = map_segment();
        if header.is_null() {
            refuse(b"tarragon: the shared memory of the driver is not there; did the program close it before main?\n");
        }
        (*header).runtime_version = Header::VERSION;
        let server = Server::new(header);
        prepare(header);
        if !send(&hello()) {
            refuse(b"tarragon: the report pipe of the driver is not there; did the program close it before main?\n");
        }
        server.run();
        header
    }
}

/// The greeting; it carries the runtime's version, so that a driver of another version can say so.
fn hello() -> Report {
    Report { kind: HELLO, detail: Header::VERSION, ..Report::default() }
}

/// The version that the driver speaks, 0 if it is not a number; `None` without a driver.
unsafe fn announced_version() -> Option<u32> {
    // SAFETY: `getenv` returns null or a string that ends with a zero byte.
    unsafe {
        let mut text = sys::getenv(ENV.as_ptr()).cast::<u8>().cast_const();
        if text.is_null() {
            return None;
        }
        let mut version = 0u32;
        while *text != 0 {
            let digit = (*text).wrapping_sub(b'0');
            if digit > 9 {
                return Some(0);
            }
            version = version.wrapping_mul(10).wrapping_add(u32::from(digit));
            text = text.add(1);
        }
        Some(version)
    }
}

unsafe fn map_segment() -> *mut Header {
    // SAFETY: the mapping is new memory; the header is only looked at if the file is large enough for it.
    unsafe {
        let mut stat = sys::Stat::default();
        if sys::fstat(SERVER_FDS.segment, &mut stat) != 0 || stat.size < size_of::<Header>() as i64 {
            return null_mut();
        }
        let (prot, flags) = (sys::PROT_READ_WRITE, sys::MAP_SHARED);
        let memory = sys::mmap(null_mut(), stat.size as usize, prot, flags, SERVER_FDS.segment, 0);
        if memory as isize == -1 {
            return null_mut();
        }
        let header = memory.cast::<Header>();
        let fits = (*header).magic == Header::MAGIC && (*header).version == Header::VERSION;
        if fits { header } else { null_mut() }
    }
}

/// What the server knows. Nothing is read from the segment once runs, which may scribble over it, have begun.
struct Server {
    input_is_stdin: bool,
    /// Whether this process is the first of its pid namespace, so that `kill(-1)` reaches its descendants only.
    is_init: bool,
    /// What the program had set for `SIGCHLD` before `main`. The server itself needs the default.
    sigchld: sys::SigAction,
}

impl Server {
    unsafe fn new(header: *const Header) -> Server {
        // SAFETY: `header` is mapped; the structures are valid for the calls.
        unsafe {
            let mut stdin = sys::Stat::default();
            let input_is_stdin = sys::fstat(0, &mut stdin) == 0
                && stdin.device == (*header).input_device
                && stdin.inode == (*header).input_inode;
            let is_init = sys::getpid() == 1;
            if !is_init {
                // Killed at the driver's death, it could not end its descendants; it sees that death by itself.
                sys::prctl(sys::PR_SET_PDEATHSIG, 0usize, 0usize, 0usize, 0usize);
                sys::prctl(sys::PR_SET_CHILD_SUBREAPER, 1usize, 0usize, 0usize, 0usize);
            }
            let mut sigchld = sys::SigAction::default();
            sys::sigaction(sys::SIGCHLD, &sys::SigAction::default(), &mut sigchld);
            Server { input_is_stdin, is_init, sigchld }
        }
    }

    /// Serves runs until the driver hangs up, which ends the process. Returns in the children only.
    unsafe fn run(&self) {
        // SAFETY: `fork` at the start of `main` copies the one thread that runs this.
        unsafe {
            loop {
                let Some(command) = receive() else { sys::_exit(0) };
                if self.input_is_stdin {
                    sys::lseek(0, 0, 0);
                }
                let report = match sys::fork() {
                    0 => return self.enter_run(),
                    child if child > 0 => supervise(child, command.timeout_ms, SERVER_FDS.commands),
                    _ => Report { kind: DONE, detail: sys::errno() as u32, ..Report::default() },
                };
                if !send(&report) {
                    sys::_exit(0);
                }
            }
        }
    }

    /// Gives the child what `main` would have found without a server.
    unsafe fn enter_run(&self) {
        // SAFETY: the descriptors are the server's own; the action is the one that was read.
        unsafe {
            close_server_fds();
            sys::setpgid(0, 0);
            if !self.is_init {
                sys::prctl(sys::PR_SET_PDEATHSIG, sys::SIGKILL as usize, 0usize, 0usize, 0usize);
            }
            if self.sigchld.handler != 0 {
                sys::sigaction(sys::SIGCHLD, &self.sigchld, null_mut());
            }
        }
    }
}

unsafe fn close_server_fds() {
    let (first, last) = (SERVER_FDS.segment, SERVER_FDS.reports);
    // SAFETY: closing descriptors touches no memory.
    unsafe {
        if sys::syscall(sys::SYS_CLOSE_RANGE, first, last, 0) != 0 {
            sys::close(SERVER_FDS.segment);
            sys::close(SERVER_FDS.commands);
            sys::close(SERVER_FDS.reports);
        }
    }
}

/// The next command; `None` once the driver is gone.
unsafe fn receive() -> Option<Command> {
    let mut command = Command { timeout_ms: 0, reserved: 0 };
    let len = size_of::<Command>();
    // SAFETY: `command` has room for `len` bytes, and any bytes are a valid `Command`.
    unsafe {
        loop {
            let got = sys::read(SERVER_FDS.commands, (&raw mut command).cast::<c_void>(), len);
            if got == len as isize {
                return Some(command);
            }
            if got >= 0 || sys::errno() != sys::EINTR {
                return None;
            }
        }
    }
}

unsafe fn send(report: &Report) -> bool {
    let len = size_of::<Report>();
    // SAFETY: `report` has `len` initialised bytes: its layout has no padding.
    unsafe {
        loop {
            let sent = sys::write(SERVER_FDS.reports, (&raw const *report).cast::<c_void>(), len);
            if sent >= 0 || sys::errno() != sys::EINTR {
                return sent == len as isize;
            }
        }
    }
}

unsafe fn refuse(message: &[u8]) -> ! {
    // SAFETY: the message is valid memory of that length.
    unsafe {
        sys::write(2, message.as_ptr().cast::<c_void>(), message.len());
        sys::_exit(2)
    }
}

/// Waits for `child` up to its time limit (0 for none), ends it and everything that it started, and says how
/// it went. Ends this process, too, if `lifeline` hangs up, because then the driver is dead.
///
/// # Safety
/// `child` must be a child of this process that nobody else waits for, and every other child of this process
/// must be a descendant of it.
pub unsafe fn supervise(child: c_int, timeout_ms: u32, lifeline: c_int) -> Report {
    // SAFETY: the caller gives the child to us.
    unsafe {
        let start = now_us();
        let end = wait_for_end(child, deadline(start, timeout_ms), lifeline);
        if !matches!(end, End::Itself) {
            sys::kill(child, sys::SIGKILL);
        }
        let (wait_status, usage) = reap(child);
        let run_time_us = now_us().wrapping_sub(start);
        let stray_children = end_descendants(child);
        if matches!(end, End::Abandoned) {
            sys::_exit(0);
        }
        let timed_out = u32::from(matches!(end, End::TimedOut));
        let max_rss_kib = usage.max_rss_kib.clamp(0, i64::from(u32::MAX)) as u32;
        let cpu_time_us = usage.cpu_time_us();
        let kind = DONE;
        Report {
            kind,
            wait_status,
            timed_out,
            max_rss_kib,
            run_time_us,
            cpu_time_us,
            stray_children,
            detail: 0,
        }
    }
}

enum End {
    Itself,
    TimedOut,
    Abandoned,
}

fn deadline(start: u64, timeout_ms: u32) -> u64 {
    if timeout_ms == 0 { u64::MAX } else { start.wrapping_add(u64::from(timeout_ms).wrapping_mul(1000)) }
}

unsafe fn now_us() -> u64 {
    let mut time = sys::Timespec::default();
    // SAFETY: `time` is valid for writing.
    unsafe { sys::clock_gettime(sys::CLOCK_MONOTONIC, &mut time) };
    (time.seconds as u64).wrapping_mul(1_000_000).wrapping_add(time.nanoseconds as u64 / 1000)
}

unsafe fn wait_for_end(child: c_int, deadline: u64, lifeline: c_int) -> End {
    // SAFETY: `pidfd_open` and `close` touch no memory.
    unsafe {
        let pidfd = sys::syscall(sys::SYS_PIDFD_OPEN, child, 0) as c_int;
        if pidfd < 0 {
            return wait_by_looking(child, deadline, lifeline);
        }
        let end = wait_by_pidfd(pidfd, deadline, lifeline);
        sys::close(pidfd);
        end
    }
}

unsafe fn wait_by_pidfd(pidfd: c_int, deadline: u64, lifeline: c_int) -> End {
    let mut fds = [
        sys::PollFd { fd: pidfd, events: sys::POLLIN, revents: 0 },
        sys::PollFd { fd: lifeline, events: 0, revents: 0 },
    ];
    // SAFETY: `fds` holds two entries.
    unsafe {
        loop {
            let ready = sys::poll(fds.as_mut_ptr(), 2, remaining_ms(deadline));
            let [run, driver] = &fds;
            if ready > 0 && run.revents != 0 {
                return End::Itself;
            }
            if ready > 0 && driver.revents & (sys::POLLHUP | sys::POLLERR) != 0 {
                return End::Abandoned;
            }
            if remaining_ms(deadline) == 0 {
                return End::TimedOut;
            }
        }
    }
}

/// For kernels without `pidfd_open` (before 5.3): looks every millisecond.
unsafe fn wait_by_looking(child: c_int, deadline: u64, lifeline: c_int) -> End {
    let mut driver = sys::PollFd { fd: lifeline, events: 0, revents: 0 };
    // SAFETY: one entry is passed; a zombie stays until `reap` takes it.
    unsafe {
        while !is_zombie(child) {
            if sys::poll(&mut driver, 1, 1) > 0 && driver.revents & (sys::POLLHUP | sys::POLLERR) != 0 {
                return End::Abandoned;
            }
            if remaining_ms(deadline) == 0 {
                return End::TimedOut;
            }
        }
        End::Itself
    }
}

unsafe fn is_zombie(child: c_int) -> bool {
    const P_PID: c_int = 1;
    const WEXITED_WNOHANG_WNOWAIT: c_int = 4 | 1 | 0x0100_0000;
    let mut info = [0i32; 32];
    unsafe extern "C" {
        fn waitid(kind: c_int, id: c_int, info: *mut i32, options: c_int) -> c_int;
    }
    // SAFETY: `siginfo_t` has 128 bytes.
    let done = unsafe { waitid(P_PID, child, info.as_mut_ptr(), WEXITED_WNOHANG_WNOWAIT) };
    let [signal, ..] = info;
    done != 0 || signal != 0
}

/// Time until the deadline, rounded up, as `poll` takes it: -1 for ever, 0 if it is over.
unsafe fn remaining_ms(deadline: u64) -> c_int {
    if deadline == u64::MAX {
        return -1;
    }
    // SAFETY: see `now_us`.
    let left = deadline.saturating_sub(unsafe { now_us() });
    left.div_ceil(1000).min(i32::MAX as u64) as c_int
}

/// Takes the child's status and what it used.
unsafe fn reap(child: c_int) -> (c_int, sys::Usage) {
    let mut usage = sys::Usage::default();
    let mut status = 0;
    // SAFETY: the structures are valid for writing.
    unsafe {
        while sys::wait4(child, &mut status, sys::WALL, &mut usage) < 0 && sys::errno() == sys::EINTR {}
    }
    (status, usage)
}

/// Kills and reaps all that the run left behind; returns how many processes had to be killed.
unsafe fn end_descendants(child: c_int) -> u32 {
    // SAFETY: signals go to this namespace or to the run's group and this process's children.
    unsafe {
        if sys::getpid() != 1 {
            sys::kill(child.wrapping_neg(), sys::SIGKILL);
            return end_children_one_by_one();
        }
        // Orphans belong to process 1. No fork can slip through: the kernel signals all of them at once.
        if sys::kill(-1, sys::SIGKILL) != 0 {
            return 0;
        }
        let mut killed = 0u32;
        while let Some(status) = reap_any(0) {
            killed = killed.wrapping_add(u32::from(status & 0x7f == sys::SIGKILL));
        }
        killed
    }
}

/// Status of any child that has ended; `None` if there is none.
unsafe fn reap_any(options: c_int) -> Option<c_int> {
    let mut status = 0;
    // SAFETY: `status` is valid for writing.
    unsafe {
        loop {
            let pid = sys::wait4(-1, &mut status, sys::WALL | options, null_mut());
            if pid > 0 {
                return Some(status);
            }
            if pid == 0 || sys::errno() != sys::EINTR {
                return None;
            }
        }
    }
}

/// Without a pid namespace: orphans come to this process because it is a subreaper, so those that left the
/// run's process group are found among its children, generation after generation.
unsafe fn end_children_one_by_one() -> u32 {
    const PATIENCE: u32 = 2_000;
    const PAUSE: sys::Timespec = sys::Timespec { seconds: 0, nanoseconds: 200_000 };
    let mut killed = 0u32;
    // SAFETY: only children of this process are signalled.
    unsafe {
        for _ in 0..PATIENCE {
            while let Some(status) = reap_any(sys::WNOHANG) {
                killed = killed.wrapping_add(u32::from(status & 0x7f == sys::SIGKILL));
            }
            if !kill_children() {
                break;
            }
            sys::nanosleep(&PAUSE, null_mut());
        }
    }
    killed
}

/// Signals every child of this thread; says whether there was one.
unsafe fn kill_children() -> bool {
    let mut text = [0u8; 4096];
    // SAFETY: at most the buffer's length is read into it.
    let len = unsafe {
        let file = sys::open(c"/proc/thread-self/children".as_ptr(), 0);
        let len = sys::read(file, text.as_mut_ptr().cast::<c_void>(), text.len());
        sys::close(file);
        len
    };
    let mut pid: c_int = 0;
    let mut found = false;
    // A number cut off by the end of the buffer has no space behind it and is left for the next time.
    for byte in text.iter().take(len.max(0) as usize) {
        if byte.is_ascii_digit() {
            pid = pid.wrapping_mul(10).wrapping_add(c_int::from(byte.wrapping_sub(b'0')));
            continue;
        }
        if pid > 1 {
            // SAFETY: signalling touches no memory.
            unsafe { sys::kill(pid, sys::SIGKILL) };
            found = true;
        }
        pid = 0;
    }
    found
}
