//! Waits for the end of a run, within its time limit, and ends it with all of its descendants.
//!
//! The code runs in targets and in the driver, for programs that have no server inside: it must not allocate or
//! panic. How a run is ended is decided here and nowhere else.

use crate::sys;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use trace::server::{Command, DONE, Report};

/// Waits for `child` up to its time limit (0 for none), ends it and everything that it started, and says how
/// it went. Ends this process, too, if `lifeline` hangs up, because then the driver is dead.
///
/// # Safety
/// `child` must be a child of this process that nobody else waits for, and every other child of this process
/// must be a descendant of it.
pub unsafe fn supervise(child: c_int, timeout_ms: u32, lifeline: c_int) -> Report {
    // SAFETY: the caller gives the child to us.
    unsafe {
        let run = Run::of(child);
        let start = now_us();
        let limits = Limits::of(&Command { timeout_ms, ..Command::default() }, start, 0);
        let end = wait_for_end(&run, &limits, lifeline);
        let report = conclude(&run, &end);
        run.close();
        Report { run_time_us: now_us().wrapping_sub(start), ..report }
    }
}

/// A child to watch.
#[derive(Clone, Copy)]
pub struct Run {
    child: c_int,
    /// Negative for kernels without `pidfd_open`.
    pidfd: c_int,
}

impl Run {
    /// # Safety
    /// As for [`supervise`].
    pub unsafe fn of(child: c_int) -> Run {
        // SAFETY: the call touches no memory.
        let pidfd = unsafe { sys::syscall(sys::SYS_PIDFD_OPEN, child, 0) as c_int };
        Run { child, pidfd }
    }

    /// # Safety
    /// The run must have ended.
    pub unsafe fn close(&self) {
        if self.pidfd >= 0 {
            // SAFETY: the descriptor is this run's.
            unsafe { sys::close(self.pidfd) };
        }
    }
}

/// Says how long a run has still.
pub trait Clock {
    /// Time until the limits of `child` have to be looked at again, rounded up, as `poll` takes it: -1 for ever, 0 if it has
    /// reached one.
    ///
    /// # Safety
    /// Always safe to call; implementations read what other processes write.
    unsafe fn remaining_ms(&self, child: c_int) -> c_int;
}

/// When a run is ended.
#[derive(Clone, Copy)]
pub struct Limits {
    deadline: u64,
    /// Processor time of its process, in microseconds.
    cpu_us: u64,
}

impl Limits {
    /// Of a command that was begun at `started_us` by a process that had had some processor time; limits of 0 are none.
    pub fn of(command: &Command, started_us: u64, cpu_before_us: u64) -> Limits {
        let until = |start: u64, limit: u64| if limit == 0 { u64::MAX } else { start.saturating_add(limit) };
        let deadline = until(started_us, u64::from(command.timeout_ms).saturating_mul(1000));
        Limits { deadline, cpu_us: until(cpu_before_us, command.cpu_us.into()) }
    }
}

impl Clock for Limits {
    unsafe fn remaining_ms(&self, child: c_int) -> c_int {
        let left = |limit: u64, now: u64| if limit == u64::MAX { limit } else { limit.saturating_sub(now) };
        // SAFETY: asking for the time touches no other memory.
        let (now, cpu) = unsafe { (now_us(), if self.cpu_us == u64::MAX { 0 } else { cpu_time_us(child) }) };
        match left(self.deadline, now).min(left(self.cpu_us, cpu)) {
            u64::MAX => -1,
            left => left.div_ceil(1000).min(i32::MAX as u64) as c_int,
        }
    }
}

/// Ends a run that is over or has to be, with everything that it started, and says how it went. Ends this process, too, if the
/// driver is dead.
///
/// # Safety
/// As for [`supervise`].
pub unsafe fn conclude(run: &Run, end: &End) -> Report {
    // SAFETY: the caller gives the child to us.
    unsafe {
        let child = run.child;
        if !matches!(end, End::Itself) {
            sys::kill(child, sys::SIGKILL);
        }
        let (wait_status, usage) = reap(child);
        let stray_children = end_descendants(child);
        if matches!(end, End::Abandoned) {
            sys::_exit(0);
        }
        let timed_out = u32::from(matches!(end, End::TimedOut));
        let max_rss_kib = usage.max_rss_kib.clamp(0, i64::from(u32::MAX)) as u32;
        let cpu_time_us = usage.cpu_time_us();
        let times = Report { kind: DONE, cpu_time_us, max_rss_kib, ..Report::default() };
        Report { wait_status, timed_out, stray_children, ..times }
    }
}

pub enum End {
    Itself,
    TimedOut,
    Abandoned,
}

pub unsafe fn now_us() -> u64 {
    // SAFETY: the clock is there on every machine.
    unsafe { clock_us(sys::CLOCK_MONOTONIC) }
}

/// Processor time of all threads of a process; 0 if it is gone.
unsafe fn cpu_time_us(process: c_int) -> u64 {
    // The kernel's name for the clock that the scheduler keeps of a process.
    const SCHEDULER: c_int = 2;
    // SAFETY: a clock that is not there is not read.
    unsafe { clock_us((!process).wrapping_shl(3) | SCHEDULER) }
}

unsafe fn clock_us(clock: c_int) -> u64 {
    let mut time = sys::Timespec::default();
    // SAFETY: `time` is valid for writing.
    unsafe { sys::clock_gettime(clock, &mut time) };
    (time.seconds as u64).wrapping_mul(1_000_000).wrapping_add(time.nanoseconds as u64 / 1000)
}

/// Waits for the end of a run: its own, that of its limits or of the driver.
///
/// # Safety
/// As for [`supervise`].
pub unsafe fn wait_for_end(run: &Run, limits: &impl Clock, lifeline: c_int) -> End {
    // SAFETY: the child is the caller's.
    unsafe {
        match run.pidfd {
            ..0 => wait_by_looking(run.child, limits, lifeline),
            _ => wait_by_pidfd(run, limits, lifeline),
        }
    }
}

unsafe fn wait_by_pidfd(run: &Run, limits: &impl Clock, lifeline: c_int) -> End {
    let child = run.child;
    let mut fds = [
        sys::PollFd { fd: run.pidfd, events: sys::POLLIN, revents: 0 },
        sys::PollFd { fd: lifeline, events: 0, revents: 0 },
    ];
    // SAFETY: `fds` holds two entries.
    unsafe {
        loop {
            let ready = sys::poll(fds.as_mut_ptr(), 2, limits.remaining_ms(child));
            let [run, driver] = &fds;
            if ready > 0 && run.revents != 0 {
                return End::Itself;
            }
            if ready > 0 && driver.revents & (sys::POLLHUP | sys::POLLERR) != 0 {
                return End::Abandoned;
            }
            if limits.remaining_ms(child) == 0 {
                return End::TimedOut;
            }
        }
    }
}

/// The next command; `None` once the other side is gone.
///
/// # Safety
/// Always safe to call; it is `unsafe` only because reading is foreign.
pub unsafe fn receive(from: c_int) -> Option<Command> {
    // SAFETY: see `receive_with`.
    unsafe { receive_with(from, 0) }
}

/// As [`receive`], but the command stays where it is.
///
/// # Safety
/// As for [`receive`].
pub unsafe fn peek(from: c_int) -> Option<Command> {
    // SAFETY: see `receive_with`.
    unsafe { receive_with(from, sys::MSG_PEEK) }
}

/// Whether a command lies ready.
///
/// # Safety
/// Always safe to call; it is `unsafe` only because polling is foreign.
pub unsafe fn is_waiting(from: c_int) -> bool {
    let mut commands = sys::PollFd { fd: from, events: sys::POLLIN, revents: 0 };
    // SAFETY: one entry is passed.
    unsafe { sys::poll(&mut commands, 1, 0) > 0 }
}

unsafe fn receive_with(from: c_int, flags: c_int) -> Option<Command> {
    let mut command = Command::default();
    let len = size_of::<Command>();
    // SAFETY: `command` has room for `len` bytes, and any bytes are a valid `Command`.
    unsafe {
        loop {
            let got = sys::recv(from, (&raw mut command).cast::<c_void>(), len, flags);
            if got == len as isize {
                return Some(command);
            }
            if got >= 0 || !may_try_again(from, sys::POLLIN) {
                return None;
            }
        }
    }
}

/// Sends a message; false if nobody takes it.
///
/// # Safety
/// `T` must have no padding.
pub unsafe fn send<T>(to: c_int, message: &T) -> bool {
    let len = size_of::<T>();
    // SAFETY: the message has `len` initialised bytes.
    unsafe {
        loop {
            let sent = sys::send(to, (&raw const *message).cast::<c_void>(), len, sys::MSG_NOSIGNAL);
            if sent >= 0 || !may_try_again(to, sys::POLLOUT) {
                return sent == len as isize;
            }
        }
    }
}

/// After a call that failed: whether it is to be made again. Programs can switch the waiting off that a descriptor does, so that it is done
/// here.
unsafe fn may_try_again(descriptor: c_int, event: i16) -> bool {
    // SAFETY: one entry is passed.
    unsafe {
        match sys::errno() {
            sys::EINTR => true,
            sys::EAGAIN => {
                let mut entry = sys::PollFd { fd: descriptor, events: event, revents: 0 };
                sys::poll(&mut entry, 1, -1) > 0 || sys::errno() == sys::EINTR
            }
            _ => false,
        }
    }
}

/// For kernels without `pidfd_open` (before 5.3): looks every millisecond.
unsafe fn wait_by_looking(child: c_int, limits: &impl Clock, lifeline: c_int) -> End {
    let mut driver = sys::PollFd { fd: lifeline, events: 0, revents: 0 };
    // SAFETY: one entry is passed; a zombie stays until `reap` takes it.
    unsafe {
        while !is_zombie(child) {
            if sys::poll(&mut driver, 1, 1) > 0 && driver.revents & (sys::POLLHUP | sys::POLLERR) != 0 {
                return End::Abandoned;
            }
            if limits.remaining_ms(child) == 0 {
                return End::TimedOut;
            }
        }
        End::Itself
    }
}

unsafe fn is_zombie(child: c_int) -> bool {
    let mut info = [0i32; 32];
    let options = sys::WEXITED | sys::WNOHANG | sys::WNOWAIT;
    // SAFETY: `siginfo_t` has 128 bytes.
    let done = unsafe { sys::waitid(sys::P_PID, child, info.as_mut_ptr(), options) };
    let [signal, ..] = info;
    done != 0 || signal != 0
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
