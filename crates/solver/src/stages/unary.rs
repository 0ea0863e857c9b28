//! Goals about one byte, or about the length.
//!
//! If no value passes the conditions on that variable alone, there is no answer whatever the
//! others say; otherwise a few values are tried with all other variables as they are.

use crate::components::Slot;
use crate::counters::Counters;
use crate::query::{Answer, Effort, UnknownReason};
use crate::question::{Goal, Question};
use crate::stage::{Rest, Stage};
use expr::Support;
use std::time::Instant;

/// Values of one variable that are tried while others depend on it too.
const MAX_TRIES: usize = 8;

#[derive(Default)]
pub(crate) struct UnaryStage {
    counters: Counters,
}

impl Stage for UnaryStage {
    fn name(&self) -> &'static str {
        "unary"
    }

    fn min_effort(&self) -> Effort {
        Effort::Glance
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        let Some(slot) = variable(question.goal).filter(|_| question.is_flip()) else {
            return rest.solve(question);
        };
        let start = Instant::now();
        let answer = self.solve_for(question, slot);
        self.counters.count(&answer, start.elapsed());
        if answer.is_known() { answer } else { rest.solve(question) }
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.counters)
    }
}

impl UnaryStage {
    fn solve_for(&mut self, question: &mut Question, slot: Slot) -> Answer {
        let is_alone = question.path.components.is_alone(slot, question.goal.prefix as u32);
        let proposals = match question.goal.support.single_byte() {
            Some(byte) => byte_proposals(question, byte, if is_alone { 1 } else { MAX_TRIES }),
            None => length_proposal(question).into_iter().collect(),
        };
        if proposals.is_empty() {
            return Answer::Unsat;
        }
        match proposals.into_iter().find(|input| question.check(input)) {
            Some(input) => Answer::Sat(input),
            None => {
                // Nothing else depends on the variable, so the first value should have done.
                self.counters.wrong += u64::from(is_alone);
                Answer::Unknown(UnknownReason::WrongModel)
            }
        }
    }
}

/// The only variable of a goal.
fn variable(goal: &Goal) -> Option<Slot> {
    match goal.support.single_byte() {
        Some(byte) => Some(Slot::byte(byte)),
        None => (goal.support == Support::length()).then_some(Slot::LENGTH),
    }
}

fn byte_proposals(question: &mut Question, byte: u32, tries: usize) -> Vec<Vec<u8>> {
    let (domain, goal) = (question.byte_domain(byte), question.goal.lit);
    let path = &mut *question.path;
    let wanted = path.domains.truth_of_byte(question.truths, path.dag, goal);
    let current = path.current.get(byte as usize).copied();
    let values = domain.intersection(wanted).preferred(current).take(tries);
    values.map(|value| path.query(goal).input_with([(byte, value)], None)).collect()
}

fn length_proposal(question: &mut Question) -> Option<Vec<u8>> {
    let (domain, goal) = (question.length_domain(), question.goal.lit);
    let path = &mut *question.path;
    let wanted = path.domains.truth_of_length(question.truths, path.dag, goal, path.max_len as u64);
    let possible = domain.intersection(&wanted).at_least(path.needed_len(question.goal));
    let len = possible.nearest(path.current.len() as u64)?;
    Some(path.query(goal).input_with([], Some(len as usize)))
}
