//! Processor time and memory of child processes.

use anyhow::{Result, ensure};
use std::process::{Command, Stdio};
use std::time::Duration;

/// User processor time that children of this process have used so far.
pub fn children_user_time() -> Duration {
    duration(children_usage().ru_utime)
}

/// Processor time, the kernel's for them included.
pub fn children_time() -> Duration {
    let usage = children_usage();
    duration(usage.ru_utime) + duration(usage.ru_stime)
}

fn children_usage() -> libc::rusage {
    // SAFETY: all zeros are a valid value, and the call fills it in.
    unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
}

/// Output and user time of a command: the fastest of several runs, which other load disturbs least.
pub fn best_time(command: &mut Command, runs: usize) -> Result<(Vec<u8>, Duration)> {
    let mut best = Duration::MAX;
    let mut text = Vec::new();
    for _ in 0..runs {
        let before = children_user_time();
        let output = command.stdin(Stdio::null()).output()?;
        ensure!(output.status.success(), "{command:?} failed: {}", output.status);
        best = best.min(children_user_time() - before);
        text = output.stdout;
    }
    Ok((text, best))
}
