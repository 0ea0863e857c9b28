//! Several inputs in one process, without believing what that alone brings about.
//!
//! What a program keeps from one input to the next can make it crash, hang or take other branches. So a run that shared
//! its process and is worth keeping is made again in a process of its own, and that run counts.

use search::{Ending, Execution};

/// What runs in processes of their own have shown.
#[derive(Default)]
pub(crate) struct Sharing {
    /// By outcome.
    covered: Vec<bool>,
    confirmed: u64,
    pub unstable: u64,
}

/// A program that keeps this many things between inputs, and in more than a quarter of what was looked into, is better
/// off without sharing.
const MOST_UNSTABLE: u64 = 32;

impl Sharing {
    /// Whether a run that shared its process has to be made again.
    pub(crate) fn is_doubtful(&self, run: &Execution) -> bool {
        !matches!(run.ending, Ending::Exit(_))
            || run.bad_trace.is_some()
            || self.new_outcomes(run).next().is_some()
    }

    /// Compares a doubtful run with the one in a process of its own.
    pub(crate) fn compare(&mut self, shared: &Execution, own: &Execution) {
        let same_ending = std::mem::discriminant(&shared.ending) == std::mem::discriminant(&own.ending);
        let stable = same_ending && self.new_outcomes(shared).all(|outcome| own.covered.contains(&outcome));
        self.confirmed += 1;
        self.unstable += u64::from(!stable);
    }

    /// Takes note of a run in a process of its own.
    pub(crate) fn learn(&mut self, own: &Execution) {
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
        self.unstable > MOST_UNSTABLE && self.unstable * 4 > self.confirmed
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

    fn run(ending: Ending, covered: &[u32]) -> Execution {
        let covered = covered.to_vec();
        Execution {
            ending,
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
        assert!(sharing.is_doubtful(&run(Ending::Exit(0), &[1])));
        sharing.learn(&run(Ending::Exit(0), &[1, 2]));
        assert!(!sharing.is_doubtful(&run(Ending::Exit(3), &[1])));
        assert!(sharing.is_doubtful(&run(Ending::Signal(6), &[1])));
        assert!(sharing.is_doubtful(&run(Ending::Exit(0), &[1, 3])));
    }

    #[test]
    fn what_does_not_happen_again_is_unstable() {
        let mut sharing = Sharing::default();
        let mut unstable = |shared: &Execution, own: &Execution| {
            let before = sharing.unstable;
            sharing.compare(shared, own);
            sharing.unstable > before
        };
        let quiet = run(Ending::Exit(0), &[1, 2]);
        assert!(!unstable(&run(Ending::Exit(0), &[1]), &quiet));
        assert!(unstable(&run(Ending::Exit(0), &[1, 3]), &quiet));
        assert!(unstable(&run(Ending::Signal(6), &[1]), &quiet));
        assert!(!unstable(&run(Ending::Signal(6), &[1]), &run(Ending::Signal(11), &[1])));
    }

    #[test]
    fn sharing_ends_where_it_is_futile() {
        let mut sharing = Sharing::default();
        let (crash, quiet) = (run(Ending::Signal(6), &[]), run(Ending::Exit(0), &[]));
        (0..=MOST_UNSTABLE).for_each(|_| sharing.compare(&crash, &quiet));
        assert!(sharing.is_futile());
        (0..MOST_UNSTABLE * 4).for_each(|_| sharing.compare(&crash, &crash));
        assert!(!sharing.is_futile());
    }
}
