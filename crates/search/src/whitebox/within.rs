//! Answers within a language.
//!
//! Evaluating the path condition is much cheaper than solving it. So what one look does not refute
//! is looked for among the sentences near the running input, and only then solved, if it is worth
//! it: first with the languages of the tokens, or of the whole sentence, as constraints, which
//! string-shaped goals allow, and then as if there were no language. An answer that is no sentence
//! is a hint for where to look again. Every answer is a sentence that the plain evaluator accepts,
//! whatever the solver said; only values that were fixed may differ, for which the run decides.

use solver::{Answer, Effort, Lit};

use super::goal::{Goal, Solution, solve};
use super::question::{Departure, Questions};
use super::store::Live;
use crate::{Context, Scope, Sentences};

/// A flip to solve, and the run that it belongs to.
pub(super) struct Flip<'f> {
    pub goal: &'f Goal,
    pub input: &'f [u8],
    pub live: &'f mut Live,
    /// Try again without the constraints of concretisations.
    pub optimistic: bool,
    /// The side was never taken: worth solving for.
    pub wanted: bool,
    /// Take an answer that is no sentence where there is no other.
    pub outside: bool,
}

impl Flip<'_> {
    fn solve(&mut self, effort: Effort, context: &mut Context<'_>) -> Solution {
        context.solver.effort = effort;
        let optimistic = self.optimistic && effort != Effort::Glance;
        solve(self.live, self.goal, self.input, optimistic, context)
    }

    fn questions(&mut self, context: &Context<'_>) -> Option<(Lit, &mut Questions)> {
        let (constraints, questions) =
            self.live.questions(self.input, context.max_len, context.sites);
        let lit = questions.goal(&constraints[self.goal.index], self.goal.step.direction)?;
        Some((lit, questions))
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
        if let Some(found) =
            timed(context, |context| neighbour(sentences, &mut flip, is_new, context))
        {
            return found;
        }
        if flip.wanted
            && let Some(found) =
                solved(sentences, &mut flip, &[Scope::Lexemes], effort, is_new, context)
        {
            return found;
        }
        // What is worth solving for has its turn with the hard flips.
        return Solution { unknown: flip.wanted, ..Solution::default() };
    }
    let scopes = [Scope::Lexemes, Scope::Sentence];
    if let Some(found) = solved(sentences, &mut flip, &scopes, effort, is_new, context) {
        return found;
    }
    let solution = flip.solve(effort, context);
    let Some(proposal) = solution.input else { return solution };
    if let Some(found) =
        timed(context, |context| like_proposal(sentences, &mut flip, &proposal, is_new, context))
    {
        return found;
    }
    context.stats.sentences.pruned += 1;
    let input = Some(proposal).filter(|_| flip.outside);
    Solution { input, unknown: false, optimistic: solution.optimistic }
}

fn timed<T>(context: &mut Context<'_>, work: impl FnOnce(&mut Context<'_>) -> T) -> T {
    let started = context.clock.elapsed();
    let result = work(context);
    context.stats.times.grammar += context.clock.elapsed().saturating_sub(started);
    result
}

/// A sentence that the solver found as one: it knows the languages of the tokens, or of the whole.
fn solved(
    sentences: &mut dyn Sentences,
    flip: &mut Flip<'_>,
    scopes: &[Scope],
    effort: Effort,
    is_new: &dyn Fn(&[u8]) -> bool,
    context: &mut Context<'_>,
) -> Option<Solution> {
    let started = context.clock.elapsed();
    context.solver.effort = effort;
    let (input, index) = (flip.input, flip.goal.index);
    let (lit, questions) = flip.questions(context)?;
    let found = scopes.iter().find_map(|&scope| {
        let mut restrictions = sentences.restrictions(input, scope)?;
        match questions.ask_within(context.solver, index, lit, &mut restrictions) {
            Answer::Sat(text) => Some(text).filter(|text| is_new(text) && sentences.contains(text)),
            Answer::Unsat | Answer::Unknown(_) => None,
        }
    });
    context.stats.times.solving += context.clock.elapsed().saturating_sub(started);
    context.stats.sentences.solved += u64::from(found.is_some());
    found.map(|text| Solution { input: Some(text), ..Solution::default() })
}

/// A sentence that differs from the run's input at the goal's token. Each leaves the path
/// somewhere, so they are made once for all flips of a token.
fn neighbour(
    sentences: &mut dyn Sentences,
    flip: &mut Flip<'_>,
    is_new: &dyn Fn(&[u8]) -> bool,
    context: &mut Context<'_>,
) -> Option<Solution> {
    let (input, index, max_len) = (flip.input, flip.goal.index, context.max_len);
    let (lit, questions) = flip.questions(context)?;
    // In a parser that reads from left to right, conditions depend on all tokens so far, and the
    // last one decides.
    let place = questions.last_byte(lit).unwrap_or(input.len());
    let token = sentences.token_at(input, place)?;
    let departures = questions.neighbours.remove(&token).unwrap_or_else(|| {
        let texts = sentences.neighbours(input, token).into_iter();
        let fitting = texts.filter(|text| text.len() <= max_len && is_new(text));
        fitting.filter_map(|text| Some((questions.departure(&text)?, text))).collect()
    });
    let mut here = departures.iter().filter(|(departure, _)| departure.index == index);
    let found = here
        .find(|(_, text)| is_new(text) && questions.is_true(lit, text) && sentences.contains(text));
    let found = found.map(|(departure, text)| accept(*departure, text, context));
    questions.neighbours.insert(token, departures);
    found
}

/// The proposal if it is a sentence, else one that has its bytes.
fn like_proposal(
    sentences: &mut dyn Sentences,
    flip: &mut Flip<'_>,
    proposal: &[u8],
    is_new: &dyn Fn(&[u8]) -> bool,
    context: &mut Context<'_>,
) -> Option<Solution> {
    if sentences.contains(proposal) {
        return Some(Solution { input: Some(proposal.to_vec()), ..Solution::default() });
    }
    let (input, index, max_len) = (flip.input, flip.goal.index, context.max_len);
    let (lit, questions) = flip.questions(context)?;
    for text in sentences.with_proposal(input, proposal) {
        if text.len() > max_len || !is_new(&text) || !questions.is_true(lit, &text) {
            continue;
        }
        match questions.departure(&text) {
            Some(departure) if departure.index == index && sentences.contains(&text) => {
                return Some(accept(departure, &text, context));
            }
            _ => {}
        }
    }
    None
}

fn accept(departure: Departure, text: &[u8], context: &mut Context<'_>) -> Solution {
    context.stats.sentences.lifted += 1;
    Solution { input: Some(text.to_vec()), unknown: false, optimistic: !departure.exact }
}
