//! Goals that no input at all can meet, as far as ranges of values tell.

use crate::counters::Counters;
use crate::query::{Answer, Effort};
use crate::question::Question;
use crate::stage::{Rest, Stage};
use std::time::Instant;

#[derive(Default)]
pub(crate) struct RangesStage {
    counters: Counters,
}

impl Stage for RangesStage {
    fn name(&self) -> &'static str {
        "ranges"
    }

    fn min_effort(&self) -> Effort {
        Effort::Glance
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        let start = Instant::now();
        let path = &mut *question.path;
        let impossible = path.ranges.implies(path.dag, question.goal.lit.negated());
        let answer = if impossible { Answer::Unsat } else { Answer::UNSUPPORTED };
        self.counters.count(&answer, start.elapsed());
        if impossible { answer } else { rest.solve(question) }
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.counters)
    }
}
