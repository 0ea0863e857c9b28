//! Several inputs in one process, without believing what that alone brings about.
//!
//! What a program keeps from one input to the next can make it crash, hang, take other branches or
//! violate a property. So a run that shared its process and is worth keeping is made again in a
//! process of its own, and that run counts.

use std::collections::{HashMap, HashSet};

use search::{Execution, Outcome};
use trace::EventKind;

/// What runs in processes of their own have shown.
#[derive(Default)]
pub(crate) struct Sharing {
    /// By outcome.
    covered: Vec<bool>,
    /// Lengths of the shortest inputs that crashed, by what crashes have in common.
    crashes: HashMap<Crash, usize>,
    violations: HashSet<Violation>,
    confirmed: u64,
    pub unstable: u64,
    /// Traces with branches that were taken for what they are.
    pub believed: u64,
}

/// The signal, and the site of the last event before it.
type Crash = (i32, u32);

fn crash(run: &Execution) -> Option<Crash> {
    let Outcome::Signal(signal) = run.outcome else { return None };
    Some((signal, run.trace.as_ref()?.events.last()?.site))
}

/// Kind and site of a violated check.
type Violation = (u16, u32);

fn violations(run: &Execution) -> impl Iterator<Item = Violation> {
    let events = run.trace.iter().flat_map(|trace| &trace.events);
    let violated = events.filter(|event| event.kind == EventKind::Check as u8 && event.taken != 0);
    violated.map(|event| (event.aux, event.site))
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
        let is_new =
            self.new_outcomes(run).next().is_some() || self.new_violations(run).next().is_some();
        !is_usual || run.bad_trace.is_some() || is_new
    }

    /// Compares a doubtful run with the one in a process of its own.
    pub(crate) fn compare(&mut self, shared: &Execution, own: &Execution) {
        let same_kind =
            std::mem::discriminant(&shared.outcome) == std::mem::discriminant(&own.outcome);
        let covers = |outcome| own.covered.contains(&outcome);
        let violates = |violation| violations(own).any(|other| other == violation);
        let stable = same_kind
            && self.new_outcomes(shared).all(covers)
            && self.new_violations(shared).all(violates);
        self.confirmed += 1;
        self.unstable += u64::from(!stable);
    }

    /// A run that shared its process is not made again.
    pub(crate) fn believe(&mut self, run: &Execution) {
        let mut events = run.trace.iter().flat_map(|trace| &trace.events);
        let decides = events.any(|event| event.kind != EventKind::GiveUp as u8);
        self.believed += u64::from(decides);
    }

    /// Takes note of a run on `len` bytes in a process of its own.
    pub(crate) fn learn(&mut self, own: &Execution, len: usize) {
        if let Some(crash) = crash(own) {
            let shortest = self.crashes.entry(crash).or_insert(len);
            *shortest = len.min(*shortest);
        }
        self.violations.extend(violations(own));
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

    fn new_violations<'a>(&'a self, run: &'a Execution) -> impl Iterator<Item = Violation> + 'a {
        violations(run).filter(|violation| !self.violations.contains(violation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use trace::{Event, Node, Op};

    /// The last expression of `traced`.
    const CONDITION: u32 = 2;

    fn run(outcome: Outcome, covered: &[u32]) -> Execution {
        let covered = covered.to_vec();
        Execution {
            outcome,
            covered,
            counts: Vec::new(),
            trace: None,
            bad_trace: None,
            run_time: Duration::ZERO,
            cpu_time: Duration::ZERO,
            stderr: Vec::new(),
        }
    }

    fn traced(event: Event) -> path::Trace {
        let length = Node { op: Op::Len as u8, bits: 64, ..Node::default() };
        let condition = Node::constant(1, 1);
        let (nodes, values) = (vec![Node::default(), length, condition], vec![0, 0, 1]);
        let recorded = path::Recorded { nodes, values, ..path::Recorded::default() };
        let raw = path::RawTrace { recorded, events: vec![event], ..path::RawTrace::default() };
        path::Trace::from_raw(raw).expect("a trace")
    }

    #[test]
    fn a_violation_counts_if_it_happens_in_a_process_of_its_own() {
        let check = |site, taken| {
            let event = Event {
                kind: EventKind::Check as u8,
                taken,
                site,
                label: CONDITION,
                ..Event::default()
            };
            Execution { trace: Some(traced(event)), ..run(Outcome::Exit(0), &[]) }
        };
        let mut sharing = Sharing::default();
        assert!(!sharing.is_doubtful(&check(7, 0), 5));
        assert!(sharing.is_doubtful(&check(7, 1), 5));
        sharing.compare(&check(7, 1), &check(7, 0));
        assert_eq!(sharing.unstable, 1);
        sharing.learn(&check(7, 1), 5);
        assert!(!sharing.is_doubtful(&check(7, 1), 5));
        assert!(sharing.is_doubtful(&check(8, 1), 5), "another place");
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
            let event = Event { kind: EventKind::GiveUp as u8, site, ..Event::default() };
            Execution { trace: Some(traced(event)), ..run(Outcome::Signal(signal), covered) }
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
