//! Questions about texts, and answers within languages.

use crate::counters::Counters;
use crate::query::Answer;
use crate::question::Question;
use crate::stage::{Rest, Stage};
use crate::texts::{self, has_texts};
use std::time::Instant;

#[derive(Default)]
pub(crate) struct StringsStage {
    counters: Counters,
}

impl Stage for StringsStage {
    fn name(&self) -> &'static str {
        "strings"
    }

    fn keeps_languages(&self) -> bool {
        true
    }

    fn applies(&self, question: &mut Question) -> bool {
        let is_restricted = question.restrictions.is_some();
        question.query().is_some_and(|query| is_restricted || has_texts(query.dag))
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        let Some(view) = question.view() else { return rest.solve(question) };
        let start = Instant::now();
        let answer = match view.restrictions {
            Some(mut within) => texts::solve_within(view.truths, &view.query, &mut within),
            None => texts::solve(view.truths, &view.query),
        };
        let answer = question.checked(answer, &mut self.counters);
        self.counters.count(&answer, start.elapsed());
        // Nobody else keeps to languages.
        let is_final = answer.is_known() || question.restrictions.is_some();
        if is_final { answer } else { rest.solve(question) }
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.counters)
    }
}
