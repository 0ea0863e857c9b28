//! One processor for the driver and its target: they take turns, and waking a process on another
//! processor costs more than a short run.

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// Keeps this process, and what it starts from now on, to a processor to which no other process is
/// kept. Does nothing where there is none, or where the kernel refuses.
pub fn keep_to_one_processor() {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let taken: Vec<usize> = processes().filter_map(kept_to).collect();
    if let Some(cpu) = first_free(sched_getcpu(), |cpu| allowed.is_set(cpu), &taken) {
        let mut one = CpuSet::new();
        one.set(cpu);
        // What is refused costs time only.
        let _ = sched_setaffinity(None, &one);
    }
}

fn first_free(here: usize, is_allowed: impl Fn(usize) -> bool, taken: &[usize]) -> Option<usize> {
    (here..CpuSet::MAX_CPU).chain(0..here).find(|&cpu| is_allowed(cpu) && !taken.contains(&cpu))
}

fn processes() -> impl Iterator<Item = Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// The only processor that a process may use. Threads of the kernel, which have no program and
/// cannot be moved, do not count.
fn kept_to(process: Pid) -> Option<usize> {
    let allowed = sched_getaffinity(Some(process)).ok().filter(|allowed| allowed.count() == 1)?;
    let is_program = std::fs::read_link(format!("/proc/{}/exe", process.as_raw_nonzero())).is_ok();
    if is_program { (0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn the_first_free_processor_from_here_on() {
        let allowed = |cpu: usize| [1, 2, 5].contains(&cpu);
        assert_eq!(first_free(2, allowed, &[]), Some(2));
        assert_eq!(first_free(2, allowed, &[2]), Some(5));
        assert_eq!(first_free(3, allowed, &[5]), Some(1));
        assert_eq!(first_free(0, allowed, &[1, 2, 5]), None);
    }

    #[test]
    fn processes_that_are_kept_to_one_processor_are_known() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let allowed = sched_getaffinity(Some(pid)).unwrap();
        let last = (0..CpuSet::MAX_CPU).rfind(|&cpu| allowed.is_set(cpu)).unwrap();
        assert_eq!(kept_to(pid), (allowed.count() == 1).then_some(last));
        let mut one = CpuSet::new();
        one.set(last);
        sched_setaffinity(Some(pid), &one).unwrap();
        assert_eq!(kept_to(pid), Some(last));
        assert!(processes().any(|process| process == pid));
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
