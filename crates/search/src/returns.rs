//! Where the time of a search went, and what it brought.
//!
//! A search is a sequence of steps, each of which tries one thing. All of the step's time counts
//! for that: thinking, solving, running, learning. Second opinions and the confirmation of hangs
//! happen within steps and are counted apart.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::{Next, Origin};

/// What one kind of work took and brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Return {
    pub time: Duration,
    /// How often it had its turn.
    pub turns: u64,
    /// Branch outcomes that it was the first to take.
    pub outcomes: u64,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Returns {
    works: BTreeMap<&'static str, Return>,
    /// New outcomes of inputs that each solver stage found.
    stages: BTreeMap<&'static str, u64>,
    /// The step that is going on asks for the second time, with more effort.
    pub(crate) is_second: bool,
}

/// What a step tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Work {
    name: &'static str,
    /// Its input is an answer of the solver.
    is_solved: bool,
}

impl Work {
    pub(crate) const SEEDS: Work = Work { name: "seeds", is_solved: false };

    pub(crate) fn of(next: &Next) -> Work {
        match next {
            Next::Run(proposal) => Work::of_origin(&proposal.origin),
            Next::Busy => Work { name: "questions without an input", is_solved: false },
            Next::Finished => Work { name: "random", is_solved: false },
        }
    }

    fn of_origin(origin: &Origin) -> Work {
        let (name, is_solved) = match origin {
            Origin::Seed(_) => return Work::SEEDS,
            Origin::Flip { .. } => ("flips", true),
            Origin::OptimisticFlip { .. } => ("optimistic flips", true),
            Origin::Violation { .. } => ("checks", true),
            Origin::Change => ("changes", false),
            Origin::Word => ("words", false),
            Origin::Retrace => ("retraces", false),
            Origin::Random => ("random", false),
            Origin::Mutation => ("mutation", false),
            Origin::Enumerated => ("enumeration", false),
        };
        Work { name, is_solved }
    }
}

impl Returns {
    /// Books a step; `found_by` is the stage that found the last answer.
    pub(crate) fn book(
        &mut self,
        work: Work,
        time: Duration,
        outcomes: u64,
        found_by: Option<&'static str>,
    ) {
        let is_second = std::mem::take(&mut self.is_second);
        let name = if is_second { "second attempts" } else { work.name };
        self.add(name, Return { time, turns: 1, outcomes });
        if let Some(stage) = found_by.filter(|_| work.is_solved && outcomes > 0) {
            *self.stages.entry(stage).or_default() += outcomes;
        }
    }

    /// Books what happens within steps.
    pub(crate) fn add(&mut self, name: &'static str, more: Return) {
        let of = self.works.entry(name).or_default();
        of.time += more.time;
        of.turns += more.turns;
        of.outcomes += more.outcomes;
    }

    /// All work, what took most time first.
    pub fn works(&self) -> Vec<(&'static str, Return)> {
        let mut works: Vec<_> = self.works.iter().map(|(&name, &of)| (name, of)).collect();
        works.sort_by_key(|(_, of)| std::cmp::Reverse(of.time));
        works
    }

    pub(crate) fn of_stage(&self, stage: &str) -> u64 {
        self.stages.get(stage).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_outcomes_go_to_what_was_tried() {
        let mut returns = Returns::default();
        let flip = Work::of_origin(&Origin::Flip { site: 1, direction: 0 });
        let second = Duration::from_secs(1);
        returns.book(flip, second, 3, Some("unary"));
        returns.book(flip, second, 0, Some("domain"));
        returns.book(Work::of_origin(&Origin::Mutation), 3 * second, 5, Some("domain"));
        returns.is_second = true;
        returns.book(Work::of(&Next::Busy), second / 2, 0, None);
        returns.book(Work::of(&Next::Busy), second / 4, 0, None);
        let of = |time, turns, outcomes| Return { time, turns, outcomes };
        let expected = [
            ("mutation", of(3 * second, 1, 5)),
            ("flips", of(2 * second, 2, 3)),
            ("second attempts", of(second / 2, 1, 0)),
            ("questions without an input", of(second / 4, 1, 0)),
        ];
        assert_eq!(returns.works(), expected);
        assert_eq!((returns.of_stage("unary"), returns.of_stage("domain")), (3, 0));
    }
}
