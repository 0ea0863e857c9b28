//! Answers within a language.
//!
//! The solver knows nothing of the language, and evaluating the path condition is much cheaper than solving it. So what one look
//! does not refute is tried on sentences near the running input first, and only then solved: an answer that is no sentence is a
//! hint for where to look again. Every answer is a sentence that the plain evaluator accepts, whatever the solver said.

use solver::Effort;

use super::goal::{Goal, Solution, solve};
use super::store::Live;
use crate::{Context, Sentences};

/// A flip to solve, and the run that it belongs to.
pub(super) struct Flip<'f> {
    pub goal: &'f Goal,
    pub input: &'f [u8],
    pub live: &'f mut Live,
    /// Try again without the constraints of concretisations.
    pub optimistic: bool,
    /// Take an answer that is no sentence where there is no other.
    pub outside: bool,
}

impl Flip<'_> {
    fn solve(&mut self, effort: Effort, context: &mut Context<'_>) -> Solution {
        context.solver.effort = effort;
        let optimistic = self.optimistic && effort != Effort::Glance;
        solve(self.live, self.goal, self.input, optimistic, context)
    }
}

/// Solves a flip for a sentence. `is_new` tells whether a text was not run before.
pub(super) fn solve_within(
    sentences: &mut dyn Sentences,
    mut flip: Flip<'_>,
    effort: Effort,
    is_new: &dyn Fn(&[u8]) -> bool,
    context: &mut Context<'_>,
) -> Solution {
    if effort == Effort::Quick {
        let glance = flip.solve(Effort::Glance, context);
        if glance.is_refuted() {
            return glance;
        }
        if let Some(found) = sentence(sentences, &mut flip, glance.input, is_new, context) {
            return Solution::exact(found);
        }
    }
    let solution = flip.solve(effort, context);
    let Some(proposal) = solution.input else { return solution };
    if let Some(found) = sentence(sentences, &mut flip, Some(proposal.clone()), is_new, context) {
        return Solution::exact(found);
    }
    context.stats.sentences.pruned += 1;
    Solution {
        input: Some(proposal).filter(|_| flip.outside),
        unknown: false,
        optimistic: solution.optimistic,
    }
}

/// The proposal if it is a sentence, else a sentence near the running input that reaches the goal.
fn sentence(
    sentences: &mut dyn Sentences,
    flip: &mut Flip<'_>,
    proposal: Option<Vec<u8>>,
    is_new: &dyn Fn(&[u8]) -> bool,
    context: &mut Context<'_>,
) -> Option<Vec<u8>> {
    let started = context.clock.elapsed();
    let found = match proposal {
        Some(proposal) if sentences.contains(&proposal) => Some(proposal),
        proposal => near(sentences, flip, proposal.as_deref(), is_new, context),
    };
    context.stats.times.grammar += context.clock.elapsed().saturating_sub(started);
    found
}

fn near(
    sentences: &mut dyn Sentences,
    flip: &mut Flip<'_>,
    proposal: Option<&[u8]>,
    is_new: &dyn Fn(&[u8]) -> bool,
    context: &mut Context<'_>,
) -> Option<Vec<u8>> {
    let (input, goal, max_len) = (flip.input, flip.goal, context.max_len);
    let (constraints, questions) = flip.live.questions(input, max_len, context.sites);
    let lit = questions.goal(&constraints[goal.index], goal.step.direction)?;
    let place = proposal.map(|proposal| first_difference(input, proposal));
    let place = place.or_else(|| questions.first_byte(lit)).unwrap_or(input.len());
    let mut passes =
        |text: &[u8]| text.len() <= max_len && is_new(text) && questions.holds(goal.index, lit, text);
    let found = sentences.near(input, place, proposal, &mut passes);
    context.stats.sentences.lifted += u64::from(found.is_some());
    found
}

fn first_difference(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
