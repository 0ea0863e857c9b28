//! One flip: what the solver is asked, and what comes of it.

use std::collections::BTreeSet;

use path::{Constraint, Purpose, Step};
use solver::{Answer, Effort, Lit};

use super::question::Questions;
use super::store::Live;
use super::worklist::Candidate;
use crate::{Context, Origin};

/// What the solver is asked for.
pub(crate) struct Goal {
    pub index: usize,
    pub step: Step,
    /// Of the prefix with the flipped step.
    pub hash: u64,
    pub violation: bool,
}

impl Goal {
    pub(crate) fn new(live: &Live, candidate: Candidate) -> Option<Goal> {
        let index = candidate.index as usize;
        let constraint = live.constraints.get(index)?;
        let direction = u64::from(candidate.direction);
        let step = Step { site: constraint.site, direction };
        let violation = constraint.purpose(direction) != Purpose::Cover;
        Some(Goal { index, step, hash: step.after(live.hashes[index]), violation })
    }

    pub(crate) fn origin(&self, optimistic: bool) -> Origin {
        let Step { site, direction } = self.step;
        match (self.violation, optimistic) {
            (true, _) => Origin::Violation { site, direction },
            (false, true) => Origin::OptimisticFlip { site, direction },
            (false, false) => Origin::Flip { site, direction },
        }
    }
}

/// An answer as far as the search goes on from it.
#[derive(Default)]
pub(crate) struct Solution {
    pub input: Option<Vec<u8>>,
    pub unknown: bool,
    pub optimistic: bool,
}

impl Solution {
    /// No input reaches the goal.
    pub(crate) fn is_refuted(&self) -> bool {
        self.input.is_none() && !self.unknown
    }
}

/// Asks for an input that reaches the goal, and if there is none and `optimistic` is set, once more
/// without the constraints of concretisations. An attempt that leaves the goal open for a better
/// one is not counted.
pub(crate) fn solve(
    live: &mut Live,
    goal: &Goal,
    input: &[u8],
    optimistic: bool,
    context: &mut Context<'_>,
) -> Solution {
    let started = context.clock.elapsed();
    let (constraints, questions) = live.questions(input, context.max_len, context.sites);
    let lit = questions.goal(&constraints[goal.index], goal.step.direction);
    let solution =
        lit.map(|lit| ask(constraints, questions, (goal.index, lit), optimistic, context));
    context.stats.times.solving += context.clock.elapsed().saturating_sub(started);
    solution.unwrap_or_default()
}

/// Asks for an input on which the value that was fixed at the goal's constraint is none of `known`.
pub(crate) fn solve_other_value(
    live: &mut Live,
    goal: &Goal,
    input: &[u8],
    known: &BTreeSet<u64>,
    context: &mut Context<'_>,
) -> Solution {
    let started = context.clock.elapsed();
    let (constraints, questions) = live.questions(input, context.max_len, context.sites);
    let answer = questions.ask_other_value(context.solver, constraints, goal.index, known);
    context.stats.times.solving += context.clock.elapsed().saturating_sub(started);
    let Some(answer) = answer else { return Solution::default() };
    context.stats.answers.count(&answer);
    match answer {
        Answer::Sat(input) => Solution { input: Some(input), ..Solution::default() },
        Answer::Unsat => Solution::default(),
        Answer::Unknown(_) => Solution { unknown: true, ..Solution::default() },
    }
}

fn ask(
    constraints: &[Constraint],
    questions: &mut Questions,
    (index, lit): (usize, Lit),
    optimistic: bool,
    context: &mut Context<'_>,
) -> Solution {
    let answer = questions.ask(context.solver, index, lit);
    let unknown = matches!(answer, Answer::Unknown(_));
    let leaves_open = match context.solver.effort {
        Effort::Glance => answer != Answer::Unsat,
        Effort::Quick => unknown,
        Effort::Full => false,
    };
    if !leaves_open {
        context.stats.answers.count(&answer);
    }
    if let Answer::Sat(input) = answer {
        return Solution { input: Some(input), unknown, optimistic: false };
    }
    if leaves_open {
        return Solution { unknown, ..Solution::default() };
    }
    let second = match optimistic && context.stats.optimism.is_justified() {
        true => questions.ask_optimistically(context.solver, constraints, index, lit),
        false => None,
    };
    context.stats.optimism.asked += u64::from(second.is_some());
    let Some(Answer::Sat(input)) = second else {
        return Solution { unknown, ..Solution::default() };
    };
    context.stats.optimism.sat += 1;
    Solution { input: Some(input), unknown, optimistic: true }
}
