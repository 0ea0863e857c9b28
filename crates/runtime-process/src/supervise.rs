//! Waits for the end of a run, within its time limit, and ends it with all of its descendants.
//!
//! The code runs in targets and in the driver, for programs that have no server inside: it must not
//! allocate or panic. How a run is ended is decided here and nowhere else.

use crate::sys::{self, Descriptor};
use core::ffi::{CStr, c_int};
use trace::server::{Command, DONE, Report};

/// Waits for `child` up to its time limit (0 for none), ends it and everything that it started, and
/// says how it went. Ends this process, too, if `lifeline` hangs up, because then the driver is
/// dead.
///
/// Every child of this process counts as a descendant of `child`, and is killed.
pub fn supervise(child: c_int, timeout_ms: u32, lifeline: c_int) -> Report {
    let run = Run::of(child);
    let start = now_us();
    let limits = Limits::of(&Command { timeout_ms, ..Command::default() }, start, 0);
    let end = run.wait(&limits, lifeline);
    let report = run.conclude(&end);
    Report { run_time_us: now_us().wrapping_sub(start), ..report }
}

/// A child to watch, for which nobody else waits.
pub struct Run {
    child: c_int,
    /// `None` with kernels that have none for processes.
    descriptor: Option<Descriptor>,
}

/// How a run ended.
pub enum End {
    Itself,
    TimedOut,
    Abandoned,
}

impl Run {
    pub fn of(child: c_int) -> Run {
        Run { child, descriptor: Descriptor::of_process(child) }
    }

    /// Waits for the end of the run: its own, that of its limits or of the driver.
    pub fn wait(&self, limits: &impl Clock, lifeline: c_int) -> End {
        match &self.descriptor {
            Some(descriptor) => self.wait_by_descriptor(descriptor.number(), limits, lifeline),
            None => self.wait_by_looking(limits, lifeline),
        }
    }

    fn wait_by_descriptor(&self, descriptor: c_int, limits: &impl Clock, lifeline: c_int) -> End {
        let mut fds = [
            sys::PollFd { fd: descriptor, events: sys::POLLIN, revents: 0 },
            sys::PollFd { fd: lifeline, events: 0, revents: 0 },
        ];
        loop {
            let ready = sys::wait_until_ready(&mut fds, limits.remaining_ms(self.child));
            let [run, driver] = &fds;
            if ready > 0 && run.revents != 0 {
                return End::Itself;
            }
            if ready > 0 && has_hung_up(driver) {
                return End::Abandoned;
            }
            if limits.remaining_ms(self.child) == 0 {
                return End::TimedOut;
            }
        }
    }

    /// For kernels without descriptors of processes: looks every millisecond. A child that has
    /// ended stays visible until it is reaped.
    fn wait_by_looking(&self, limits: &impl Clock, lifeline: c_int) -> End {
        let mut driver = [sys::PollFd { fd: lifeline, events: 0, revents: 0 }];
        while !has_ended(self.child) {
            let ready = sys::wait_until_ready(&mut driver, 1);
            let [driver] = &driver;
            if ready > 0 && has_hung_up(driver) {
                return End::Abandoned;
            }
            if limits.remaining_ms(self.child) == 0 {
                return End::TimedOut;
            }
        }
        End::Itself
    }

    /// Ends a run that is over or has to be, with everything that it started, and says how it went.
    /// Ends this process, too, if the driver is dead.
    pub fn conclude(self, end: &End) -> Report {
        if !matches!(end, End::Itself) {
            sys::kill(self.child, sys::SIGKILL);
        }
        let (wait_status, usage) = reap(self.child);
        let stray_children = end_descendants(self.child);
        if matches!(end, End::Abandoned) {
            sys::_exit(0);
        }
        Report {
            kind: DONE,
            wait_status,
            timed_out: u32::from(matches!(end, End::TimedOut)),
            max_rss_kib: usage.max_rss_kib(),
            stray_children,
            cpu_time_us: usage.cpu_time_us(),
            ..Report::default()
        }
    }
}

fn has_hung_up(driver: &sys::PollFd) -> bool {
    driver.revents & (sys::POLLHUP | sys::POLLERR) != 0
}

/// Says how long a run has still.
pub trait Clock {
    /// Time until the limits of `child` have to be looked at again, rounded up, as `poll` takes it:
    /// -1 for ever, 0 if it has reached one.
    fn remaining_ms(&self, child: c_int) -> c_int;
}

/// So many times as long as its limit a run may take at most, if it did not get the processor.
pub const STRETCH: u32 = 10;

/// When a run is ended.
#[derive(Clone, Copy)]
pub struct Limits {
    deadline: u64,
    /// By how much the deadline moves at most, for a run that had to wait for the processor.
    stretch: u64,
    /// Processor time of its process, in microseconds.
    cpu_us: u64,
}

impl Limits {
    /// Of a command that was begun at `started_us` by a process that had had some processor time;
    /// limits of 0 are none.
    pub fn of(command: &Command, started_us: u64, cpu_before_us: u64) -> Limits {
        let until = |start: u64, limit: u64| match limit {
            0 => u64::MAX,
            _ => start.saturating_add(limit),
        };
        let limit = u64::from(command.timeout_ms).saturating_mul(1000);
        let (deadline, stretch) = (until(started_us, limit), limit.saturating_mul(MORE));
        Limits { deadline, stretch, cpu_us: until(cpu_before_us, command.cpu_us.into()) }
    }
}

const MORE: u64 = (STRETCH - 1) as u64;

impl Limits {
    /// The time for which a run was ready and others had the processor is not its own: a machine
    /// under load makes no hangs. Of a process that takes several inputs, earlier ones count, too.
    fn deadline(&self, child: c_int, now: u64) -> u64 {
        match now < self.deadline {
            true => self.deadline,
            false => self.deadline.saturating_add(starved_us(child).min(self.stretch)),
        }
    }
}

impl Clock for Limits {
    fn remaining_ms(&self, child: c_int) -> c_int {
        let left = |limit: u64, now: u64| match limit {
            u64::MAX => limit,
            _ => limit.saturating_sub(now),
        };
        let cpu = if self.cpu_us == u64::MAX { 0 } else { cpu_time_us(child) };
        let now = now_us();
        match left(self.deadline(child, now), now).min(left(self.cpu_us, cpu)) {
            u64::MAX => -1,
            left => left.div_ceil(1000).min(i32::MAX as u64) as c_int,
        }
    }
}

/// Microseconds of the monotonic clock.
pub fn now_us() -> u64 {
    sys::clock_us(sys::CLOCK_MONOTONIC)
}

/// Processor time of all threads of a process; 0 if it is gone.
fn cpu_time_us(process: c_int) -> u64 {
    // The kernel's name for the clock that the scheduler keeps of a process.
    const SCHEDULER: c_int = 2;
    sys::clock_us((!process).wrapping_shl(3) | SCHEDULER)
}

/// For how long the first thread of a process has been ready to run while others ran; 0 if that
/// cannot be known.
fn starved_us(process: c_int) -> u64 {
    let mut path = [0; 40];
    let Some(file) = Descriptor::open(path_of(process, &mut path)) else { return 0 };
    let mut buffer = [0; 96];
    starved_in(file.read(&mut buffer))
}

/// `/proc/NUMBER/schedstat`, with a zero byte.
fn path_of(process: c_int, path: &mut [u8; 40]) -> &CStr {
    let mut digits = [b'0'; 10];
    let mut rest = process.unsigned_abs();
    for digit in digits.iter_mut().rev() {
        *digit = b'0'.wrapping_add((rest % 10) as u8);
        rest /= 10;
    }
    let number = digits.iter().skip_while(|digit| **digit == b'0');
    let text = b"/proc/".iter().chain(number).chain(b"/schedstat");
    path.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
    // SAFETY: the text has at most 26 bytes, so that zeros are left. (What looks for them safely may
    // panic.)
    unsafe { CStr::from_ptr(path.as_ptr().cast()) }
}

/// The second of the numbers, in nanoseconds: the first is what the thread had of the processor.
fn starved_in(schedstat: &[u8]) -> u64 {
    let mut numbers = schedstat.split(|byte| *byte == b' ' || *byte == b'\n');
    let digits = numbers.nth(1).unwrap_or_default().iter().filter(|byte| byte.is_ascii_digit());
    let add = |sum: u64, digit: &u8| {
        sum.wrapping_mul(10).wrapping_add(u64::from(digit.wrapping_sub(b'0')))
    };
    digits.fold(0, add) / 1000
}

/// The next command; `None` once the other side is gone.
pub fn receive(from: c_int) -> Option<Command> {
    receive_with(from, 0)
}

/// As [`receive`], but the command stays where it is.
pub fn peek(from: c_int) -> Option<Command> {
    receive_with(from, sys::MSG_PEEK)
}

/// Whether a command lies ready.
pub fn is_waiting(from: c_int) -> bool {
    let commands = sys::PollFd { fd: from, events: sys::POLLIN, revents: 0 };
    sys::wait_until_ready(&mut [commands], 0) > 0
}

fn receive_with(from: c_int, flags: c_int) -> Option<Command> {
    let mut command = Command::default();
    let len = size_of::<Command>();
    loop {
        // SAFETY: `command` has room for `len` bytes, and consists of numbers, for which any bytes
        // will do.
        let got = unsafe { sys::recv(from, (&raw mut command).cast(), len, flags) };
        if got == len as isize {
            return Some(command);
        }
        if got >= 0 || !may_try_again(from, sys::POLLIN) {
            return None;
        }
    }
}

// All bytes of a report are sent: six words, two long ones and two words leave none undefined.
const _: () = assert!(size_of::<Report>() == 6 * 4 + 2 * 8 + 2 * 4);

/// Sends a report; false if nobody takes it.
pub fn send(to: c_int, report: &Report) -> bool {
    let len = size_of::<Report>();
    loop {
        // SAFETY: the report has `len` bytes, all of them initialised because none is padding.
        let sent = unsafe { sys::send(to, (&raw const *report).cast(), len, sys::MSG_NOSIGNAL) };
        if sent >= 0 || !may_try_again(to, sys::POLLOUT) {
            return sent == len as isize;
        }
    }
}

/// After a call that failed: whether it is to be made again. Programs can switch off that a
/// descriptor waits, so that this waits for it.
fn may_try_again(descriptor: c_int, event: i16) -> bool {
    match sys::errno() {
        sys::EINTR => true,
        sys::EAGAIN => {
            let entry = sys::PollFd { fd: descriptor, events: event, revents: 0 };
            sys::wait_until_ready(&mut [entry], -1) > 0 || sys::errno() == sys::EINTR
        }
        _ => false,
    }
}

fn has_ended(child: c_int) -> bool {
    let mut info = [0; 32];
    let options = sys::WEXITED | sys::WNOHANG | sys::WNOWAIT;
    let failed = sys::wait_id(sys::P_PID, child, Some(&mut info), options) != 0;
    let [signal, ..] = info;
    failed || signal != 0
}

/// Takes the child's status and what it used.
fn reap(child: c_int) -> (c_int, sys::Usage) {
    let mut usage = sys::Usage::default();
    let mut status = 0;
    while sys::wait(child, &mut status, sys::WALL, Some(&mut usage)) < 0
        && sys::errno() == sys::EINTR
    {}
    (status, usage)
}

/// Kills and reaps all that the run left running; returns how many processes had to be killed.
fn end_descendants(child: c_int) -> u32 {
    if sys::getpid() != 1 {
        sys::kill(child.wrapping_neg(), sys::SIGKILL);
        return end_children_one_by_one();
    }
    // Orphans belong to process 1. No fork can slip through: the kernel signals all at once.
    if sys::kill(-1, sys::SIGKILL) != 0 {
        return 0;
    }
    reap_killed(0)
}

/// Without a pid namespace: orphans come to this process because it is a subreaper, so those that
/// left the run's process group are found among its children, generation after generation.
fn end_children_one_by_one() -> u32 {
    const MAX_GENERATIONS: u32 = 2_000;
    const PAUSE: sys::Timespec = sys::Timespec { seconds: 0, nanoseconds: 200_000 };
    let mut killed = 0u32;
    for _ in 0..MAX_GENERATIONS {
        killed = killed.wrapping_add(reap_killed(sys::WNOHANG));
        if !kill_children() {
            break;
        }
        sys::sleep(&PAUSE);
    }
    killed
}

/// Reaps children; returns how many of them had been killed.
fn reap_killed(options: c_int) -> u32 {
    let mut killed = 0u32;
    while let Some(status) = reap_any(options) {
        killed = killed.wrapping_add(u32::from(status & 0x7f == sys::SIGKILL));
    }
    killed
}

/// Status of any child that has ended; `None` if there is none.
fn reap_any(options: c_int) -> Option<c_int> {
    let mut status = 0;
    loop {
        let pid = sys::wait(-1, &mut status, sys::WALL | options, None);
        if pid > 0 {
            return Some(status);
        }
        if pid == 0 || sys::errno() != sys::EINTR {
            return None;
        }
    }
}

/// Signals every child of this thread; says whether there was one.
fn kill_children() -> bool {
    let Some(file) = Descriptor::open(c"/proc/thread-self/children") else { return false };
    let mut buffer = [0; 4096];
    let mut pid: c_int = 0;
    let mut found = false;
    // A number cut off by the end of the buffer has no space after it and is left for next time.
    for byte in file.read(&mut buffer) {
        if byte.is_ascii_digit() {
            pid = pid.wrapping_mul(10).wrapping_add(c_int::from(byte.wrapping_sub(b'0')));
            continue;
        }
        if pid > 1 {
            sys::kill(pid, sys::SIGKILL);
            found = true;
        }
        pid = 0;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_processes() {
        let path = |process| path_of(process, &mut [0; 40]).to_owned();
        assert_eq!(path(1), c"/proc/1/schedstat".to_owned());
        assert_eq!(path(4_194_304), c"/proc/4194304/schedstat".to_owned());
        assert_eq!(path(c_int::MAX), c"/proc/2147483647/schedstat".to_owned());
    }

    #[test]
    fn what_the_scheduler_says_of_a_thread() {
        assert_eq!(starved_in(b"123456789 42000999 17\n"), 42_000);
        assert_eq!(starved_in(b"0 0 0\n"), 0);
        assert_eq!(starved_in(b""), 0);
        assert_eq!(starved_in(b"7"), 0);
    }

    #[test]
    fn a_deadline_moves_by_what_others_had_and_no_further() {
        let command = Command { timeout_ms: 100, ..Command::default() };
        let limits = Limits::of(&command, 0, 0);
        assert_eq!((limits.deadline, limits.stretch), (100_000, 900_000));
        let own = sys::getpid();
        assert_eq!(limits.deadline(own, 99_999), 100_000, "before it nobody asks");
        let (less, moved) = (starved_us(own), limits.deadline(own, 100_000) - 100_000);
        assert!(less.min(900_000) <= moved && moved <= 900_000, "{less} {moved}");
    }
}
