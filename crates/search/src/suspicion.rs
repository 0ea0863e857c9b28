//! Which runs that ended well deserve a second opinion, besides those that added coverage.
//!
//! A run is suspect if it violates a check, or was made to; and if it repeats a branch a number of times that none before
//! it did, because buffers overflow at a certain number of iterations, not at a certain branch. Both are limited, and decided by
//! counts alone, so that the same campaign asks the same questions again.

use std::collections::{HashMap, HashSet};

use path::{PathCondition, Step};
use rustc_hash::FxHashMap;

use crate::Origin;

/// How often each check is examined.
const MOST_SUSPICIONS: u32 = 4;

/// One run in so many is examined for its repetitions, after the first few.
const RUNS_FOR_ONE: u64 = 24;
const FIRST: u64 = 16;

/// Repetitions beyond this are told apart by their logarithm only.
const EXACT: u32 = 32;

#[derive(Default)]
pub(crate) struct Suspicions {
    violations: HashMap<Step, u32>,
    repetitions: HashSet<(u32, u32)>,
    examined: u64,
}

impl Suspicions {
    /// Whether to examine the run number `run`, which made no other impression.
    pub(crate) fn deserves(&mut self, origin: &Origin, path: Option<&PathCondition>, run: u64) -> bool {
        let step = match *origin {
            Origin::Violation { site, direction } => Some(Step { site, direction }),
            _ => path.and_then(violated_check),
        };
        match step {
            Some(step) => self.violates(step),
            None => path.is_some_and(|path| self.repeats_anew(path, run)),
        }
    }

    fn violates(&mut self, step: Step) -> bool {
        let times = self.violations.entry(step).or_default();
        *times += 1;
        *times <= MOST_SUSPICIONS
    }

    fn repeats_anew(&mut self, path: &PathCondition, run: u64) -> bool {
        if self.examined.saturating_sub(FIRST) * RUNS_FOR_ONE > run {
            return false;
        }
        let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
        for constraint in path.constraints.iter().filter(|constraint| !constraint.is_concretisation()) {
            *counts.entry(constraint.site).or_default() += 1;
        }
        let known = self.repetitions.len();
        self.repetitions.extend(counts.into_iter().map(|(site, count)| (site, magnitude(count))));
        let new = self.repetitions.len() > known;
        self.examined += u64::from(new);
        new
    }
}

fn violated_check(path: &PathCondition) -> Option<Step> {
    path.constraints.iter().find(|constraint| constraint.is_violated_check()).map(path::Constraint::step)
}

fn magnitude(count: u32) -> u32 {
    if count <= EXACT { count } else { EXACT + count.ilog2() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use path::{Constraint, ConstraintKind};

    fn looped(times: usize) -> PathCondition {
        let branch = Constraint {
            label: 1,
            taken: true,
            site: 7,
            kind: ConstraintKind::Branch,
            negated: false,
            outcome: None,
        };
        PathCondition { constraints: vec![branch; times], ..PathCondition::default() }
    }

    #[test]
    fn each_number_of_repetitions_is_looked_at_once() {
        let mut suspicions = Suspicions::default();
        let mut ask = |times, run| suspicions.deserves(&Origin::Random, Some(&looped(times)), run);
        assert!(ask(3, 100));
        assert!(!ask(3, 200));
        assert!(ask(4, 300) && ask(1000, 400));
        assert!(!ask(1001, 500), "the same magnitude");
    }

    #[test]
    fn few_runs_are_examined() {
        let mut suspicions = Suspicions::default();
        let asked =
            (1..=80).filter(|&run| suspicions.deserves(&Origin::Random, Some(&looped(run)), run as u64));
        assert_eq!(asked.count() as u64, FIRST + 4);
    }

    #[test]
    fn checks_are_examined_a_few_times() {
        let mut suspicions = Suspicions::default();
        let violation = Origin::Violation { site: 5, direction: 1 };
        let asked = (0..10).filter(|_| suspicions.deserves(&violation, None, 0));
        assert_eq!(asked.count(), MOST_SUSPICIONS as usize);
    }
}
