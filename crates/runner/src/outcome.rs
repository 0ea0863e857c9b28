//! How a run ended, from what its supervisor reports.

use crate::options::Limits;
use run::Outcome;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use trace::server::Report;

pub(crate) fn outcome(report: &Report, limits: &Limits, kernel: &mut KernelKills) -> Outcome {
    let status = ExitStatus::from_raw(report.wait_status);
    match status.signal() {
        _ if report.timed_out != 0 => Outcome::Timeout,
        // Nobody but the supervisor kills a run, and then the time limit was the reason; or the
        // kernel, or the run itself.
        Some(libc::SIGKILL) if kernel.has_killed() => Outcome::OutOfMemory,
        Some(libc::SIGKILL | libc::SIGABRT | libc::SIGSEGV | libc::SIGBUS)
            if near_limit(report, limits) =>
        {
            Outcome::OutOfMemory
        }
        Some(signal) => Outcome::Signal(signal),
        None => Outcome::Exit(status.code().unwrap_or(0)),
    }
}

/// How many processes the kernel has killed for want of memory, on the whole machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KernelKills {
    count: u64,
}

impl KernelKills {
    pub fn up_to_now() -> KernelKills {
        KernelKills { count: count_kills() }
    }

    /// Whether it killed one since the last time that this was asked.
    fn has_killed(&mut self) -> bool {
        let before = std::mem::replace(&mut self.count, count_kills());
        self.count > before
    }
}

/// 0 where the kernel does not count.
fn count_kills() -> u64 {
    let text = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

fn near_limit(report: &Report, limits: &Limits) -> bool {
    limits.address_space_allowance.is_some()
        && u64::from(report.max_rss_kib).saturating_mul(1024) >= limits.memory / 16 * 15
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(wait_status: i32, timed_out: u32, max_rss_kib: u32) -> Outcome {
        let report = Report { wait_status, timed_out, max_rss_kib, ..Report::default() };
        let mut kernel = KernelKills { count: u64::MAX };
        outcome(&report, &Limits { memory: 64 << 20, ..Limits::default() }, &mut kernel)
    }

    #[test]
    fn wait_statuses_become_outcomes() {
        assert_eq!(ended(0, 0, 1000), Outcome::Exit(0));
        assert_eq!(ended(3 << 8, 0, 1000), Outcome::Exit(3));
        assert_eq!(ended(libc::SIGSEGV, 0, 1000), Outcome::Signal(libc::SIGSEGV));
        assert_eq!(ended(libc::SIGKILL, 1, 1000), Outcome::Timeout);
        assert_eq!(ended(libc::SIGKILL, 0, 1000), Outcome::Signal(libc::SIGKILL));
        assert_eq!(ended(libc::SIGKILL, 0, 63 << 10), Outcome::OutOfMemory);
        assert_eq!(ended(libc::SIGABRT, 0, 63 << 10), Outcome::OutOfMemory);
    }

    #[test]
    fn what_the_kernel_kills_had_too_much_memory() {
        let report = Report { wait_status: libc::SIGKILL, max_rss_kib: 1000, ..Report::default() };
        let limits = Limits { memory: 64 << 20, ..Limits::default() };
        let mut kernel = KernelKills::up_to_now();
        assert_eq!(outcome(&report, &limits, &mut kernel), Outcome::Signal(libc::SIGKILL));
        kernel.count = kernel.count.wrapping_sub(1);
        let killed_by_kernel =
            if kernel.count == u64::MAX { None } else { Some(Outcome::OutOfMemory) };
        let seen = outcome(&report, &limits, &mut kernel);
        assert_eq!(killed_by_kernel.unwrap_or(seen), seen);
    }

    #[test]
    fn a_run_that_ends_while_it_is_being_killed_still_timed_out() {
        assert_eq!(ended(0, 1, 1000), Outcome::Timeout);
    }
}
