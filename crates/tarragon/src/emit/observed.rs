//! What the program does with each input, in several runs: only what is the same in all of them may
//! be asserted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use campaign::NamedInput;
use executor::{Observation, Observer, PathMarks};
use search::Outcome;

/// Something that was seen in some runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen<T> {
    Always(T),
    Varying,
}

impl<T: PartialEq> Seen<T> {
    fn add(&mut self, other: T) {
        if *self != Seen::Always(other) {
            *self = Seen::Varying;
        }
    }

    pub(super) fn always(&self) -> Option<&T> {
        match self {
            Seen::Always(value) => Some(value),
            Seen::Varying => None,
        }
    }
}

/// All runs of an input.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    pub outcome: Seen<Outcome>,
    pub stdout: Seen<Vec<u8>>,
    /// `None` where it is too long to be kept.
    pub stderr: Seen<Option<Vec<u8>>>,
    /// The first run in which the program did not end by itself.
    pub failure: Option<Outcome>,
}

impl Observed {
    fn new(first: Observation) -> Observed {
        Observed {
            outcome: Seen::Always(first.outcome),
            stdout: Seen::Always(first.stdout),
            stderr: Seen::Always(first.stderr),
            failure: failure(first.outcome),
        }
    }

    fn add(&mut self, other: Observation) {
        self.failure = self.failure.or(failure(other.outcome));
        self.outcome.add(other.outcome);
        self.stdout.add(other.stdout);
        self.stderr.add(other.stderr);
    }

    /// Whether all runs were the same; what a program prints before it is killed is chance.
    pub(super) fn is_stable(&self) -> bool {
        let is_same = self.outcome.always().is_some();
        is_same && (self.failure.is_some() || self.stdout.always().is_some())
    }
}

fn failure(outcome: Outcome) -> Option<Outcome> {
    (!matches!(outcome, Outcome::Exit(_))).then_some(outcome)
}

/// Runs that do not end are made this often only.
const TIMEOUTS: usize = 2;
/// Between the first round and the last lies more than a second: programs print the time.
const SPREAD: Duration = Duration::from_millis(1100);

/// Goes through all inputs again and again, so that the runs of each lie apart.
pub(super) fn observe(
    observer: &mut Observer,
    inputs: &[NamedInput],
    marks: PathMarks<'_>,
    (rounds, stop): (usize, &AtomicBool),
) -> Result<Vec<Observed>> {
    let started = Instant::now();
    let mut observed: Vec<Observed> = Vec::new();
    for round in 0..rounds {
        if round > 0 && round + 1 == rounds {
            sleep(SPREAD.saturating_sub(started.elapsed()));
        }
        for (number, input) in inputs.iter().enumerate() {
            check(stop)?;
            match observed.get_mut(number) {
                None => observed.push(Observed::new(observer.run(&input.bytes, marks)?)),
                Some(known) if hangs(known) && round >= TIMEOUTS => {}
                Some(known) => known.add(observer.run(&input.bytes, marks)?),
            }
        }
    }
    Ok(observed)
}

fn hangs(observed: &Observed) -> bool {
    observed.failure == Some(Outcome::Timeout)
}

pub(super) fn check(stop: &AtomicBool) -> Result<()> {
    ensure!(!stop.load(Ordering::Relaxed), "interrupted; no tests were written");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(outcome: Outcome, stdout: &str) -> Observation {
        Observation { outcome, stdout: stdout.into(), stderr: Some(Vec::new()) }
    }

    fn observed(runs: &[(Outcome, &str)]) -> Observed {
        let mut runs = runs.iter().map(|(outcome, stdout)| run(*outcome, stdout));
        let mut observed = Observed::new(runs.next().expect("a run"));
        runs.for_each(|run| observed.add(run));
        observed
    }

    #[test]
    fn what_varies_is_not_asserted() {
        let same = observed(&[(Outcome::Exit(0), "a"), (Outcome::Exit(0), "a")]);
        assert!(same.is_stable() && same.stdout.always().is_some());
        // Once it was different, it stays so.
        let runs = ["a", "b", "a"].map(|text| (Outcome::Exit(0), text));
        let other = observed(&runs);
        assert!(!other.is_stable() && other.stdout == Seen::Varying);
        assert_eq!(other.outcome.always(), Some(&Outcome::Exit(0)));
    }

    #[test]
    fn a_failure_in_one_run_is_one() {
        let some = observed(&[(Outcome::Exit(0), "a"), (Outcome::Signal(11), "a")]);
        assert_eq!((some.failure, some.is_stable()), (Some(Outcome::Signal(11)), false));
        let all = observed(&[(Outcome::Signal(11), "a"), (Outcome::Signal(11), "ab")]);
        assert!(all.is_stable());
    }
}
