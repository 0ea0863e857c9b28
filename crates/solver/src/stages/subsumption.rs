//! Answers that follow from answers to other questions.

use crate::counters::Counters;
use crate::query::Answer;
use crate::question::Question;
use crate::stage::{Rest, Stage};
use crate::subsumption::{Literals, Subsumption};
use std::time::Instant;

#[derive(Default)]
pub(crate) struct SubsumptionStage {
    known: Subsumption,
    counters: Counters,
}

impl Stage for SubsumptionStage {
    fn name(&self) -> &'static str {
        "subsumption"
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        let Some(mut view) = question.view() else { return rest.solve(question) };
        let start = Instant::now();
        let literals = Literals::new(&view.query);
        let answer = self.known.get(&literals, &view.query, &mut |input| view.check.passes(input));
        self.counters.count(&answer, start.elapsed());
        if answer.is_known() {
            return answer;
        }
        let answer = rest.solve(question);
        self.known.put(&literals, question.path.current, &answer, question.core.as_deref());
        answer
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.counters)
    }
}
