//! Several inputs in one process, without believing what that alone brings about.
//!
//! What a program keeps from one input to the next can make it crash, hang or take other branches.
//! So a run that shared its process and is worth keeping is made again in a process of its own, and
//! that run counts.

use std::collections::HashMap;

use search::{Execution, Outcome};

/// What runs in processes of their own have shown.
#[derive(Default)]
pub(crate) struct Sharing {
    /// By outcome.
    covered: Vec<bool>,
    /// Lengths of the shortest inputs that crashed, by what crashes have in common.
    crashes: HashMap<Crash, usize>,
    confirmed: u64,
    pub unstable: u64,
}

/// The signal, and the site of the last event before it.
type Crash = (i32, u32);

fn crash(run: &Execution) -> Option<Crash> {
    let Outcome::Signal(signal) = run.outcome else { return None };
    Some((signal, run.trace.as_ref()?.events.last()?.site))
}

/// A program that keeps this many things between inputs, and in more than a quarter of what was
/// looked into, is better off without sharing.
const MAX_UNSTABLE: u64 = 32;

impl Sharing {
    /// Whether a run on `len` bytes that shared its process has to be made again. A crash like one
    /// that happened in a process of its own is believed, unless the input is the shortest so far,
    /// which would be kept.
    pub(crate) fn is_doubtful(&self, run: &Execution, len: usize) -> bool {
        let is_known = |crash| self.crashes.get(&crash).is_some_and(|shortest| *shortest <= len);
        let is_usual = matches!(run.outcome, Outcome::Exit(_)) || crash(run).is_some_and(is_known);
        !is_usual || run.bad_trace.is_some() || self.new_outcomes(run).next().is_some()
    }

    /// Compares a doubtful run with the one in a process of its own.
    pub(crate) fn compare(&mut self, shared: &Execution, own: &Execution) {
        let same_kind = std::mem::discriminant(&shared.outcome) == std::mem::discriminant(&own.outcome);
        let stable = same_kind && self.new_outcomes(shared).all(|outcome| own.covered.contains(&outcome));
        self.confirmed += 1;
        self.unstable += u64::from(!stable);
    }

    /// Takes note of a run on `len` bytes in a process of its own.
    pub(crate) fn learn(&mut self, own: &Execution, len: usize) {
        if let Some(crash) = crash(own) {
            let shortest = self.crashes.entry(crash).or_insert(len);
            *shortest = len.min(*shortest);
        }
        for &outcome in &own.covered {
            let outcome = outcome as usize;
            if outcome >= self.covered.len() {
                self.covered.resize(outcome + 1, false);
            }
            self.covered[outcome] = true;
        }
    }

    /// Whether sharing costs more than it saves.
    pub(crate) fn is_futile(&self) -> bool {
        self.unstable > MAX_UNSTABLE && self.unstable * 4 > self.confirmed
    }

    fn new_outcomes<'a>(&'a self, run: &'a Execution) -> impl Iterator<Item = u32> + 'a {
        let known = |outcome: u32| self.covered.get(outcome as usize) == Some(&true);
        run.covered.iter().copied().filter(move |outcome| !known(*outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn run(outcome: Outcome, covered: &[u32]) -> Execution {
        let covered = covered.to_vec();
        Execution {
            outcome,
            covered,
            trace: None,
            bad_trace: None,
            run_time: Duration::ZERO,
            cpu_time: Duration::ZERO,
            stderr: Vec::new(),
        }
    }

    #[test]
    fn what_is_known_is_believed() {
        let mut sharing = Sharing::default();
        assert!(sharing.is_doubtful(&run(Outcome::Exit(0), &[1]), 5));
        sharing.learn(&run(Outcome::Exit(0), &[1, 2]), 5);
        assert!(!sharing.is_doubtful(&run(Outcome::Exit(3), &[1]), 5));
        assert!(sharing.is_doubtful(&run(Outcome::Signal(6), &[1]), 5));
        assert!(sharing.is_doubtful(&run(Outcome::Exit(0), &[1, 3]), 5));
    }

    #[test]
    fn crashes_like_confirmed_ones_are_believed() {
        let crash = |signal, site, covered: &[u32]| {
            let events =
                vec![trace::Event { kind: trace::EventKind::GiveUp as u8, site, ..trace::Event::default() }];
            let length = trace::Node { op: trace::Op::Len as u8, bits: 64, ..trace::Node::default() };
            let (nodes, values) = (vec![trace::Node::default(), length], vec![0, 0]);
            let recorded = path::Recorded { nodes, values, ..path::Recorded::default() };
            let raw = path::RawTrace { recorded, events, ..path::RawTrace::default() };
            let trace = Some(path::Trace::from_raw(raw).expect("a trace"));
            Execution { trace, ..run(Outcome::Signal(signal), covered) }
        };
        let mut sharing = Sharing::default();
        assert!(sharing.is_doubtful(&crash(6, 3, &[1]), 5));
        sharing.learn(&crash(6, 3, &[1]), 5);
        assert!(!sharing.is_doubtful(&crash(6, 3, &[1]), 5));
        assert!(sharing.is_doubtful(&crash(6, 3, &[1]), 4), "a shorter input");
        assert!(sharing.is_doubtful(&crash(6, 4, &[1]), 5), "another place");
        assert!(sharing.is_doubtful(&crash(8, 3, &[1]), 5), "another signal");
        assert!(sharing.is_doubtful(&crash(6, 3, &[1, 2]), 5), "new coverage");
        assert!(sharing.is_doubtful(&run(Outcome::Signal(6), &[1]), 5), "no trace");
    }

    #[test]
    fn what_does_not_happen_again_is_unstable() {
        let mut sharing = Sharing::default();
        let mut unstable = |shared: &Execution, own: &Execution| {
            let before = sharing.unstable;
            sharing.compare(shared, own);
            sharing.unstable > before
        };
        let quiet = run(Outcome::Exit(0), &[1, 2]);
        assert!(!unstable(&run(Outcome::Exit(0), &[1]), &quiet));
        assert!(unstable(&run(Outcome::Exit(0), &[1, 3]), &quiet));
        assert!(unstable(&run(Outcome::Signal(6), &[1]), &quiet));
        assert!(!unstable(&run(Outcome::Signal(6), &[1]), &run(Outcome::Signal(11), &[1])));
    }

    #[test]
    fn sharing_ends_where_it_is_futile() {
        let mut sharing = Sharing::default();
        let (crash, quiet) = (run(Outcome::Signal(6), &[]), run(Outcome::Exit(0), &[]));
        (0..=MAX_UNSTABLE).for_each(|_| sharing.compare(&crash, &quiet));
        assert!(sharing.is_futile());
        (0..MAX_UNSTABLE * 4).for_each(|_| sharing.compare(&crash, &crash));
        assert!(!sharing.is_futile());
    }
}
