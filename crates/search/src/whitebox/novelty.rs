//! What is new about a run beyond the branch outcomes that it is the first to take.
//!
//! A parser that is driven by tables or by a stack of states takes the same branches in every
//! state, so that coverage of branches says nothing about progress through its states. Sequences of
//! branches do: the second token after a brace is a new sequence even if both were seen elsewhere.
//! A run is worth more the more sequences of a few steps it is the first to take.

use path::{Constraint, Step};
use rustc_hash::FxHashSet;

/// Lengths of the sequences. Between two decisions on bytes there is often one on the length of the
/// input.
const LENGTHS: [usize; 2] = [2, 4];
/// Sequences that are remembered; beyond it, none is new.
const MOST: usize = 4 << 20;
/// What a new branch outcome counts, against 1 for a sequence.
const OUTCOME: usize = 1000;

/// The sequences seen so far.
#[derive(Default)]
pub(crate) struct Novelty {
    seen: FxHashSet<u64>,
}

impl Novelty {
    /// How much is new about a run.
    pub(crate) fn score(&mut self, constraints: &[Constraint], new_outcomes: usize) -> usize {
        let steps: Vec<Step> = constraints.iter().map(step).collect();
        let mut new = 0;
        for window in LENGTHS.into_iter().flat_map(|length| steps.windows(length)) {
            new += usize::from(self.seen.len() < MOST && self.seen.insert(hash(window)));
        }
        new_outcomes.saturating_mul(OUTCOME) + new.min(OUTCOME - 1)
    }
}

/// A step without the value of a concretisation, which may be new every time.
fn step(constraint: &Constraint) -> Step {
    match constraint.is_concretisation() {
        true => Step { site: constraint.site, direction: 0 },
        false => constraint.step(),
    }
}

fn hash(steps: &[Step]) -> u64 {
    steps.iter().fold(steps.len() as u64, |hash, step| step.after(hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use path::ConstraintKind;

    fn run(steps: &[(u32, bool)]) -> Vec<Constraint> {
        let constraint = |&(site, taken): &(u32, bool)| Constraint {
            label: 1,
            taken,
            site,
            kind: ConstraintKind::Branch,
            negated: false,
            outcome: None,
        };
        steps.iter().map(constraint).collect()
    }

    #[test]
    fn known_steps_in_a_new_order_are_new() {
        let mut novelty = Novelty::default();
        assert_eq!(novelty.score(&run(&[(1, true), (2, false), (3, true)]), 0), 2);
        assert_eq!(novelty.score(&run(&[(1, true), (2, false), (3, true)]), 0), 0);
        assert_eq!(novelty.score(&run(&[(2, false), (1, true), (3, true)]), 0), 2);
        assert_eq!(novelty.score(&run(&[(1, true), (2, false)]), 2), 2 * OUTCOME);
    }

    #[test]
    fn fixed_values_are_not_new() {
        let mut novelty = Novelty::default();
        let fixed = |value: u64| {
            let mut run = run(&[(1, true), (2, true)]);
            run[1].kind = ConstraintKind::Concretise { on: 1, value, is_target: false };
            run
        };
        assert_eq!(novelty.score(&fixed(7), 0), 1);
        assert_eq!(novelty.score(&fixed(8), 0), 0);
    }
}
