//! Whether a run that does not end stands still for ever: each of its threads waits for another.
//!
//! Nothing but the kernel's files below `/proc` is read, and no clock: a run stands still if every
//! thread is in a call that only another thread of the run could end, and none has run between two
//! looks. What could be ended by a timeout, a signal or anything outside is no standstill.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A thread and the call in which it waits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waiting {
    pub process: i32,
    pub thread: i32,
    /// `futex`, `wait4`, `read`…
    pub call: &'static str,
}

/// The threads of a run and what says whether they have run since.
type Threads = BTreeMap<(i32, i32), Thread>;

#[derive(Debug, PartialEq, Eq)]
struct Thread {
    call: Call,
    /// Times that it went to sleep or was made to.
    switches: Vec<u64>,
}

/// A system call and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    number: i64,
    arguments: [u64; 6],
}

/// Where the descendants of `supervisor` wait if they stand still, its own threads aside.
pub(crate) fn look_for(supervisor: i32) -> Option<Vec<Waiting>> {
    let first = look(supervisor)?;
    let waiting: Option<Vec<Waiting>> = first
        .iter()
        .map(|(&(process, thread), of)| {
            let call = of.call.waits_within(process, supervisor)?;
            Some(Waiting { process, thread, call })
        })
        .collect();
    // Whoever has not run in between was in the call all the time, so that this is one moment.
    let waiting = waiting.filter(|waiting| !waiting.is_empty())?;
    (look(supervisor)? == first).then_some(waiting)
}

/// `None` if a thread does not sleep in a call, or cannot be looked at.
fn look(supervisor: i32) -> Option<Threads> {
    let mut threads = Threads::new();
    let mut open = children(supervisor)?;
    while let Some(process) = open.pop() {
        if has_timer(process) {
            return None;
        }
        for thread in numbers(&tasks(process))? {
            let directory = tasks(process).join(thread.to_string());
            let status = fs::read_to_string(directory.join("status")).ok()?;
            if is_dead(&status) {
                continue;
            }
            if waits_for_signals(&status) {
                return None;
            }
            let call = Call::read(&fs::read_to_string(directory.join("syscall")).ok()?)?;
            threads.insert((process, thread), Thread { call, switches: switches(&status) });
        }
        open.extend(children(process)?);
    }
    Some(threads)
}

/// Of those that a process made and that have numbers; an alarm is seen by its handler.
fn has_timer(process: i32) -> bool {
    let timers = fs::read_to_string(format!("/proc/{process}/timers"));
    timers.is_ok_and(|timers| !timers.is_empty())
}

/// Whether the thread handles signals that come with time, or when something outside is ready.
fn waits_for_signals(status: &str) -> bool {
    const SIGNALS: [i32; 4] = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF, libc::SIGIO];
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    };
    let handled = mask("SigCgt:") & !mask("SigBlk:");
    SIGNALS.into_iter().any(|signal| handled >> (signal - 1) & 1 == 1)
}

fn tasks(process: i32) -> PathBuf {
    PathBuf::from(format!("/proc/{process}/task"))
}

/// Of all threads of a process.
fn children(process: i32) -> Option<Vec<i32>> {
    let mut all = Vec::new();
    for thread in numbers(&tasks(process))? {
        let file = tasks(process).join(thread.to_string()).join("children");
        let text = fs::read_to_string(file).ok()?;
        all.extend(text.split_whitespace().filter_map(|word| word.parse::<i32>().ok()));
    }
    Some(all)
}

fn numbers(directory: &Path) -> Option<Vec<i32>> {
    let names = fs::read_dir(directory).ok()?.flatten().map(|entry| entry.file_name());
    Some(names.filter_map(|name| name.to_str()?.parse().ok()).collect())
}

fn is_dead(status: &str) -> bool {
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    state.is_some_and(|state| state.trim_start().starts_with(['Z', 'X']))
}

fn switches(status: &str) -> Vec<u64> {
    let count = |line: &str| {
        let (name, count) = line.split_once(':')?;
        name.ends_with("_ctxt_switches").then(|| count.trim().parse().ok())?
    };
    status.lines().filter_map(count).collect()
}

impl Call {
    /// `202 0x7f… 0x80 …`, the call and its arguments; `running` for a thread that waits nowhere.
    fn read(text: &str) -> Option<Call> {
        let mut words = text.split_whitespace();
        let number = words.next()?.parse().ok()?;
        let mut arguments = [0; 6];
        for argument in &mut arguments {
            *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        }
        Some(Call { number, arguments })
    }

    /// Its name, if only another thread of the run can end it.
    fn waits_within(&self, process: i32, supervisor: i32) -> Option<&'static str> {
        let [first, second, third, fourth, ..] = self.arguments;
        match self.number {
            libc::SYS_futex => is_untimed_wait(second as i32, fourth).then_some("futex"),
            libc::SYS_wait4 => (third as i32 & libc::WNOHANG == 0).then_some("wait4"),
            libc::SYS_waitid => (fourth as i32 & libc::WNOHANG == 0).then_some("waitid"),
            libc::SYS_read => is_inner_pipe(process, first, supervisor).then_some("read"),
            libc::SYS_write => is_inner_pipe(process, first, supervisor).then_some("write"),
            _ => None,
        }
    }
}

fn is_untimed_wait(operation: i32, timeout: u64) -> bool {
    const WAITS: [i32; 4] = [
        libc::FUTEX_WAIT,
        libc::FUTEX_WAIT_BITSET,
        libc::FUTEX_LOCK_PI,
        libc::FUTEX_WAIT_REQUEUE_PI,
    ];
    timeout == 0 && WAITS.contains(&(operation & libc::FUTEX_CMD_MASK))
}

/// Whether a descriptor is a pipe that neither the driver nor whoever supervises the run has open.
fn is_inner_pipe(process: i32, descriptor: u64, supervisor: i32) -> bool {
    let name = |path: PathBuf| fs::read_link(path).ok();
    let Some(pipe) = name(PathBuf::from(format!("/proc/{process}/fd/{descriptor}"))) else {
        return false;
    };
    let is_outside = [std::process::id() as i32, supervisor].into_iter().any(|outside| {
        let directory = PathBuf::from(format!("/proc/{outside}/fd"));
        // One whose descriptors are hidden may have any.
        fs::read_dir(directory).map_or(true, |mut all| {
            all.any(|entry| entry.is_ok_and(|entry| name(entry.path()).as_ref() == Some(&pipe)))
        })
    });
    pipe.to_string_lossy().starts_with("pipe:") && !is_outside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(text: &str) -> Option<&'static str> {
        Call::read(text)?.waits_within(std::process::id() as i32, std::process::id() as i32)
    }

    #[test]
    fn an_alarm_that_is_handled_may_end_a_wait() {
        let status = |blocked, caught| format!("SigBlk:\t{blocked:016x}\nSigCgt:\t{caught:016x}\n");
        assert!(waits_for_signals(&status(0, 1u64 << 13)));
        assert!(!waits_for_signals(&status(1u64 << 13, 1u64 << 13)), "blocked");
        assert!(!waits_for_signals(&status(0, 1u64 << 14)), "nobody sends SIGTERM");
    }

    #[test]
    fn only_calls_that_nothing_outside_ends_are_waits() {
        assert_eq!(waits("202 0x7f 0x80 0x2 0x0 0x0 0x0 0x7ffc 0x7f20"), Some("futex"));
        assert_eq!(waits("202 0x7f 0x189 0x2 0x0 0x0 0xff 0x7ffc 0x7f20"), Some("futex"));
        assert_eq!(waits("202 0x7f 0x189 0x2 0x7ff0 0x0 0xff 0x7ffc 0x7f20"), None, "timed");
        assert_eq!(waits("202 0x7f 0x81 0x2 0x0 0x0 0x0 0x7ffc 0x7f20"), None, "wakes");
        assert_eq!(waits("61 0xffffffff 0x0 0x0 0x0 0x0 0x0 0x7ffc 0x7f20"), Some("wait4"));
        assert_eq!(waits("230 0x0 0x0 0x7f 0x7f 0x0 0x0 0x7f 0x7f"), None, "sleeps");
        assert_eq!(waits("34 0x0 0x0 0x7f 0x7f 0x0 0x0 0x7f 0x7f"), None, "pauses");
        assert_eq!(waits("running\n"), None);
    }

    #[test]
    fn a_pipe_that_the_driver_has_is_no_inner_one() {
        use std::os::fd::AsRawFd as _;
        let (reader, _writer) = std::io::pipe().expect("a pipe");
        let own = std::process::id() as i32;
        assert!(!is_inner_pipe(own, reader.as_raw_fd() as u64, own));
    }
}
