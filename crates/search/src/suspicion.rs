//! What makes a run suspect although it ended well.
//!
//! A run is suspect if it violates a check, or was made to; if it comes nearer to the end of an
//! object than any before it; if it repeats a branch a number of times that none before it did,
//! because buffers overflow at a certain number of iterations, not at a certain branch; and if it
//! ends in a way that none before it did, because reads go too far where the input ends. All of it
//! is decided by what runs did, without a clock.

use std::collections::{HashMap, HashSet};

use expr::{Dag, Op};
use path::{Constraint, ConstraintKind, PathCondition, Step};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::CheckKind;

use crate::{Origin, TracedPath};

/// How often each check is examined.
const MAX_SUSPICIONS: u32 = 4;

/// Repetitions beyond this are told apart by their logarithm only.
const EXACT: u32 = 32;

/// Bytes between an access and the end of its object that are near.
const NEAR: u64 = 8;

/// Steps that make the end of a run.
const LAST_STEPS: usize = 3;

#[derive(Default)]
pub(crate) struct Suspicions {
    violations: HashMap<Step, u32>,
    repetitions: HashSet<(u32, u32)>,
    nearest: FxHashMap<u32, u64>,
    endings: FxHashSet<u64>,
}

impl Suspicions {
    /// Whether the run violates a check, or was made to, that was not examined often enough.
    pub(crate) fn violates(&mut self, origin: &Origin, path: Option<&TracedPath>) -> bool {
        let step = match *origin {
            Origin::Violation { site, direction } => Some(Step { site, direction }),
            _ => path.and_then(|path| violated_check(&path.condition)),
        };
        step.is_some_and(|step| {
            let times = self.violations.entry(step).or_default();
            *times += 1;
            *times <= MAX_SUSPICIONS
        })
    }

    /// Whether an access came nearer to the end of an object than others at its place.
    pub(crate) fn nears_an_end(&mut self, path: &TracedPath) -> bool {
        let mut nearer = false;
        for constraint in &path.condition.constraints {
            let Some(distance) = distance_to_end(constraint, &path.trace.dag) else { continue };
            let nearest = self.nearest.entry(constraint.site).or_insert(NEAR);
            nearer |= distance < *nearest;
            *nearest = distance.min(*nearest);
        }
        nearer
    }

    /// Whether the last steps of the run are new.
    pub(crate) fn ends_anew(&mut self, path: &PathCondition) -> bool {
        let steps =
            path.constraints.iter().rev().filter(|constraint| !constraint.is_concretisation());
        let last = steps.take(LAST_STEPS).fold(0, |hash, constraint| constraint.step().after(hash));
        self.endings.insert(last)
    }

    /// Whether a branch was repeated a number of times that is new.
    pub(crate) fn repeats_anew(&mut self, path: &PathCondition) -> bool {
        let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
        for constraint in
            path.constraints.iter().filter(|constraint| !constraint.is_concretisation())
        {
            *counts.entry(constraint.site).or_default() += 1;
        }
        let known = self.repetitions.len();
        self.repetitions.extend(counts.into_iter().map(|(site, count)| (site, magnitude(count))));
        self.repetitions.len() > known
    }
}

fn violated_check(path: &PathCondition) -> Option<Step> {
    path.constraints.iter().find(|constraint| constraint.is_violated_check()).map(Constraint::step)
}

/// How many bytes further an access could have been. The runtime asks whether the last place that
/// fits is below the offset.
fn distance_to_end(constraint: &Constraint, dag: &Dag) -> Option<u64> {
    let is_bound =
        constraint.kind == ConstraintKind::Check(CheckKind::OutOfBounds) && !constraint.taken;
    if !is_bound || dag.op(constraint.label) != Op::Ult {
        return None;
    }
    let node = dag.node(constraint.label);
    dag.value(node.a).checked_sub(dag.value(node.b))
}

pub(crate) fn magnitude(count: u32) -> u32 {
    if count <= EXACT { count } else { EXACT + count.ilog2() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expr::Node;

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
        let mut ask = |times| suspicions.repeats_anew(&looped(times));
        assert!(ask(3));
        assert!(!ask(3));
        assert!(ask(4) && ask(1000));
        assert!(!ask(1001), "the same magnitude");
    }

    #[test]
    fn only_the_last_steps_make_the_end_of_a_run() {
        let mut suspicions = Suspicions::default();
        assert!(suspicions.ends_anew(&looped(3)) && !suspicions.ends_anew(&looped(4)));
        let mut other = looped(4);
        other.constraints[3].taken = false;
        assert!(suspicions.ends_anew(&other));
    }

    /// An access to an object of ten bytes at the place that the input says.
    fn access(place: u8) -> TracedPath {
        let nodes = vec![
            Node::default(),
            Node { op: Op::Input as u8, bits: 8, ..Node::default() },
            Node { op: Op::Len as u8, bits: 64, ..Node::default() },
            Node::constant(8, 9),
            Node::binary(Op::Ult, 1, 3, 1),
        ];
        let event = trace::Event {
            kind: trace::EventKind::Check as u8,
            aux: CheckKind::OutOfBounds as u16,
            site: 1,
            label: 4,
            ..trace::Event::default()
        };
        let values = vec![0, place.into(), 1, 9, 0];
        let recorded = path::Recorded { nodes, values, input_len: 1, ..Default::default() };
        let raw = path::RawTrace { recorded, events: vec![event], ..Default::default() };
        let trace = path::Trace::from_raw(raw).expect("a trace");
        TracedPath::new(trace, &sites::SiteTable::default())
    }

    #[test]
    fn each_step_towards_the_end_of_an_object_counts_once() {
        let mut suspicions = Suspicions::default();
        let near: Vec<bool> =
            [0, 5, 5, 3, 9, 8].map(|place| suspicions.nears_an_end(&access(place))).into();
        assert_eq!(near, [false, true, false, false, true, false]);
    }

    #[test]
    fn checks_are_examined_a_few_times() {
        let mut suspicions = Suspicions::default();
        let violation = Origin::Violation { site: 5, direction: 1 };
        let asked = (0..10).filter(|_| suspicions.violates(&violation, None));
        assert_eq!(asked.count(), MAX_SUSPICIONS as usize);
    }
}
