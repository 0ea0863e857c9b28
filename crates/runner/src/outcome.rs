//! How a run ended.

use crate::options::Limits;
use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use trace::server::Report;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Exit(i32),
    Signal(i32),
    /// Killed at the time limit.
    Timeout,
    /// Best effort: killed by the kernel for want of memory, or by a signal while near the memory limit.
    OutOfMemory,
}

impl Outcome {
    pub(crate) fn of(report: &Report, limits: &Limits) -> Outcome {
        let status = ExitStatus::from_raw(report.wait_status);
        match status.signal() {
            _ if report.timed_out != 0 => Outcome::Timeout,
            // Nobody but the supervisor kills a run, and then the time limit was the reason.
            Some(libc::SIGKILL) => Outcome::OutOfMemory,
            Some(libc::SIGABRT | libc::SIGSEGV | libc::SIGBUS) if near_limit(report, limits) => {
                Outcome::OutOfMemory
            }
            Some(signal) => Outcome::Signal(signal),
            None => Outcome::Exit(status.code().unwrap_or(0)),
        }
    }

    /// Whether the program broke: a signal, no mere exit code.
    pub fn is_crash(self) -> bool {
        matches!(self, Outcome::Signal(_))
    }
}

fn near_limit(report: &Report, limits: &Limits) -> bool {
    limits.address_space_allowance.is_some()
        && u64::from(report.max_rss_kib).saturating_mul(1024) >= limits.memory / 16 * 15
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Exit(code) => write!(f, "exit code {code}"),
            Outcome::Signal(signal) => write!(f, "{}", signal_name(*signal)),
            Outcome::Timeout => f.write_str("time limit"),
            Outcome::OutOfMemory => f.write_str("out of memory"),
        }
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGABRT => "SIGABRT (abort)",
        libc::SIGBUS => "SIGBUS (bad memory access)",
        libc::SIGFPE => "SIGFPE (arithmetic error)",
        libc::SIGILL => "SIGILL (illegal instruction)",
        libc::SIGSEGV => "SIGSEGV (bad memory access)",
        libc::SIGSYS => "SIGSYS (bad system call)",
        libc::SIGTRAP => "SIGTRAP (trap)",
        libc::SIGPIPE => "SIGPIPE (broken pipe)",
        libc::SIGTERM => "SIGTERM (terminated)",
        libc::SIGXCPU => "SIGXCPU (processor time limit)",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(wait_status: i32, timed_out: u32, max_rss_kib: u32) -> Outcome {
        let report = Report { wait_status, timed_out, max_rss_kib, ..Report::default() };
        Outcome::of(&report, &Limits { memory: 64 << 20, ..Limits::default() })
    }

    #[test]
    fn wait_statuses_become_outcomes() {
        assert_eq!(outcome(0, 0, 1000), Outcome::Exit(0));
        assert_eq!(outcome(3 << 8, 0, 1000), Outcome::Exit(3));
        assert_eq!(outcome(libc::SIGSEGV, 0, 1000), Outcome::Signal(libc::SIGSEGV));
        assert_eq!(outcome(libc::SIGKILL, 1, 1000), Outcome::Timeout);
        assert_eq!(outcome(libc::SIGKILL, 0, 1000), Outcome::OutOfMemory);
        assert_eq!(outcome(libc::SIGABRT, 0, 63 << 10), Outcome::OutOfMemory);
    }

    #[test]
    fn a_run_that_ends_while_it_is_being_killed_still_timed_out() {
        assert_eq!(outcome(0, 1, 1000), Outcome::Timeout);
    }
}
