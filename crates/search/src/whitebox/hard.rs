//! Flips that a quick attempt of the solver leaves open.
//!
//! A question that is beyond the solver costs its whole time limit, and a program that mixes bytes
//! (a hash, a checksum) asks thousands of them. So every flip is tried quickly first. What that
//! leaves open waits here, and is tried with all effort in a part of the time, and when nothing
//! else is left to do. The part is smaller while that brings nothing.
//!
//! An exhaustive search tries everything with all effort at once, because it may claim nothing
//! about what it left open. If it has spent more than that part of the time on what stayed open all
//! the same, it tries quickly until the balance is right again.

use std::time::Duration;

use super::worklist::{Buckets, Candidate, Target, Worklist};

/// One part in so many of the time is for hard flips.
const SHARE: u32 = 4;
/// The same where so much time brought nothing.
const LEAST_SHARE: u32 = 10;
const FRUITLESS: Duration = Duration::from_secs(3);

/// A flip whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub candidate: Candidate,
    /// It was left open by a quick attempt.
    pub second: bool,
}

pub(super) struct Hard {
    waiting: Worklist,
    spent: Duration,
    /// Since one of them last took an outcome that none had taken.
    fruitless: Duration,
}

impl Hard {
    pub(super) fn new(capacity: usize) -> Hard {
        Hard {
            waiting: Worklist::Generational(Buckets::new(Some(capacity))),
            spent: Duration::ZERO,
            fruitless: Duration::ZERO,
        }
    }

    pub(super) fn push(&mut self, candidate: Candidate, target: Target) {
        self.waiting.push(candidate, target, 0);
    }

    /// Hard flips had more than their share of the time.
    pub(super) fn is_over(&self, elapsed: Duration) -> bool {
        self.spent * SHARE > elapsed
    }

    /// The same, where nobody has to know what they leave open.
    fn is_over_by_return(&self, elapsed: Duration) -> bool {
        let share = if self.fruitless > FRUITLESS { LEAST_SHARE } else { SHARE };
        self.spent * share > elapsed
    }

    /// A hard flip was the first to take an outcome.
    pub(super) fn found(&mut self) {
        self.fruitless = Duration::ZERO;
    }

    pub(super) fn spent(&self) -> Duration {
        self.spent
    }

    /// A flip, if hard ones had less than their share of the time.
    pub(super) fn pop_due(
        &mut self,
        elapsed: Duration,
        wanted: impl Fn(&Target) -> bool,
    ) -> Option<Candidate> {
        if self.is_over_by_return(elapsed) { None } else { self.waiting.pop(wanted) }
    }

    pub(super) fn pop(&mut self, wanted: impl Fn(&Target) -> bool) -> Option<Candidate> {
        self.waiting.pop(wanted)
    }

    pub(super) fn spend(&mut self, time: Duration) {
        self.spent += time;
        self.fruitless += time;
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn take_dropped(&mut self) -> Vec<Candidate> {
        self.waiting.take_dropped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hard_flips_keep_to_their_share_of_the_time() {
        let mut hard = Hard::new(100);
        for run in 0..3 {
            let target = Target { site: run, direction: 1, outcome: None, violation: false };
            hard.push(Candidate { run, index: 0, direction: 1 }, target);
        }
        let second = Duration::from_secs(1);
        assert!(hard.pop_due(Duration::ZERO, |_| true).is_some());
        hard.spend(second);
        assert!(hard.pop_due(second * (SHARE - 1), |_| true).is_none());
        assert!(hard.pop_due(second * SHARE, |_| true).is_some());
        hard.spend(second);
        assert!(hard.pop_due(second * SHARE, |_| true).is_none());
        assert!(
            hard.pop(|_| true).is_some() && hard.pop(|_| true).is_none(),
            "nothing else is left to do"
        );
    }

    #[test]
    fn what_brings_nothing_keeps_a_tenth() {
        let mut hard = Hard::new(100);
        for run in 0..9 {
            let target = Target { site: run, direction: 1, outcome: None, violation: false };
            hard.push(Candidate { run, index: 0, direction: 1 }, target);
        }
        let spent = 2 * FRUITLESS;
        hard.spend(spent);
        let is_due = |hard: &mut Hard, share| hard.pop_due(spent * share, |_| true).is_some();
        assert!(!is_due(&mut hard, SHARE) && !is_due(&mut hard, LEAST_SHARE - 1));
        assert!(is_due(&mut hard, LEAST_SHARE), "it is never given up");
        hard.found();
        assert!(is_due(&mut hard, SHARE));
    }
}
