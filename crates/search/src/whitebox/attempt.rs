//! One turn: the next flip is solved for, and its answer becomes the next run.

use solver::Effort;

use super::expand::{OTHER_TARGET, OTHER_VALUE, is_wanted, target_of};
use super::goal::{Goal, Solution, solve, solve_other_value};
use super::hard::Turn;
use super::within::{Flip, solve_within};
use super::worklist::{Candidate, Target};
use super::{Expected, Order, Whitebox, hash_of};
use crate::{Context, Next, Origin, Proposal};

/// Values of one concretisation that a search goes through.
const MAX_VALUES: usize = 256;

impl Whitebox<'_> {
    pub(super) fn pop(&mut self, context: &Context<'_>) -> Option<Turn> {
        let Whitebox { taken, hard, worklist, ready, back, .. } = self;
        let wanted = |target: &Target| is_wanted(target, context, taken);
        let first = |candidate| Turn { candidate, second: false };
        let second = |candidate| Turn { candidate, second: true };
        ready
            .take()
            .or_else(|| back.pop().map(second))
            .or_else(|| hard.pop_due(context.clock.elapsed(), wanted).map(second))
            .or_else(|| worklist.pop(wanted).map(first))
            .or_else(|| hard.pop(wanted).map(second))
    }

    pub(super) fn attempt(&mut self, turn: Turn, context: &mut Context<'_>) -> Next {
        let candidate = turn.candidate;
        context.stats.returns.is_second = turn.second;
        let Some(input) = self.store.input(candidate.run).map(<[u8]>::to_vec) else {
            return Next::Busy;
        };
        let Some(live) = self.store.live(candidate.run) else {
            self.expected = Some(Expected::Retrace(turn));
            return Next::Run(Proposal { input, symbolic: true, origin: Origin::Retrace });
        };
        let Some(goal) = Goal::new(live, candidate) else { return self.done(candidate) };
        if [OTHER_VALUE, OTHER_TARGET].contains(&candidate.direction) {
            return self.attempt_other_value(candidate, &goal, &input, context);
        }
        if !self.explored.insert(goal.hash) && !turn.second {
            context.stats.known_flips += 1;
            return self.done(candidate);
        }
        let postpones =
            !self.options.exhaustive && self.options.order == Order::Generational && !turn.second;
        let started = context.clock.elapsed();
        let hurries = postpones || self.options.exhaustive && self.hard.is_over(started);
        let effort = if hurries { Effort::Quick } else { Effort::Full };
        context.solver.asks_all = self.options.exhaustive;
        let target = target_of(&live.constraints[goal.index], goal.step.direction, context.sites);
        let optimistic = self.options.optimistic;
        let solution = match &mut self.sentences {
            Some(sentences) => {
                let wanted = is_wanted(&target, context, &self.taken);
                let outside = self.options.outside && wanted;
                let is_new = |text: &[u8]| !self.inputs.contains(&hash_of(text));
                let flip = Flip { goal: &goal, input: &input, live, optimistic, wanted, outside };
                solve_within(&mut **sentences, flip, effort, &is_new, context)
            }
            None => {
                context.solver.effort = effort;
                solve(live, &goal, &input, optimistic, context)
            }
        };
        if turn.second || self.options.exhaustive && solution.unknown {
            self.hard.spend(context.clock.elapsed().saturating_sub(started));
        }
        if postpones && solution.unknown {
            self.hard.push(candidate, target);
            return Next::Busy;
        }
        self.act_on(turn, &goal, solution, context)
    }

    /// Looks for a value of a concretisation that no run with the same path before it had.
    pub(super) fn attempt_other_value(
        &mut self,
        candidate: Candidate,
        goal: &Goal,
        input: &[u8],
        context: &mut Context<'_>,
    ) -> Next {
        let Some(live) = self.store.live(candidate.run) else { return self.done(candidate) };
        let known = self.values.entry(goal.hash).or_default();
        if !known.insert(live.constraints[goal.index].step().direction) {
            context.stats.known_flips += 1;
            return self.done(candidate);
        }
        let solution = solve_other_value(live, goal, input, known, context);
        self.completeness.unknown_answers += u64::from(solution.unknown);
        let too_many = known.len() >= MAX_VALUES;
        let expected = Expected::OtherValue { index: goal.index, hash: live.hashes[goal.index] };
        self.store.finished_flip(candidate.run);
        if solution.input.is_none() {
            self.taken.insert(goal.step);
        }
        match solution.input {
            Some(_) if too_many => self.completeness.concretisations += 1,
            Some(input) if self.inputs.insert(hash_of(&input)) => {
                let origin = goal.origin(false);
                self.expected = Some(expected);
                return Next::Run(Proposal { input, symbolic: true, origin });
            }
            _ => {}
        }
        Next::Busy
    }

    pub(super) fn act_on(
        &mut self,
        Turn { candidate, second }: Turn,
        goal: &Goal,
        solution: Solution,
        context: &Context<'_>,
    ) -> Next {
        self.completeness.unknown_answers += u64::from(solution.unknown);
        let Some(input) = solution.input else { return self.done(candidate) };
        if input.len() > context.max_len || !self.inputs.insert(hash_of(&input)) {
            return self.done(candidate);
        }
        let origin = goal.origin(solution.optimistic);
        self.expected = Some(Expected::Flip {
            candidate,
            hash: goal.hash,
            optimistic: solution.optimistic,
            violation: goal.violation,
            second,
        });
        Next::Run(Proposal { input, symbolic: true, origin })
    }

    pub(super) fn done(&mut self, candidate: Candidate) -> Next {
        self.store.finished_flip(candidate.run);
        Next::Busy
    }
}
