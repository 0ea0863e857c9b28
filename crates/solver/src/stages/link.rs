//! Solvers that need nothing but a query.

use crate::counters::Counters;
use crate::query::{Answer, Effort, Link};
use crate::question::Question;
use crate::stage::{Rest, Stage};
use std::time::Instant;

pub(crate) struct LinkStage {
    link: Box<dyn Link>,
    counters: Counters,
}

impl LinkStage {
    pub(crate) fn new(link: Box<dyn Link>) -> LinkStage {
        LinkStage { link, counters: Counters::default() }
    }
}

impl Stage for LinkStage {
    fn name(&self) -> &'static str {
        self.link.name()
    }

    fn min_effort(&self) -> Effort {
        self.link.min_effort()
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        let Some(query) = question.query() else { return rest.solve(question) };
        let start = Instant::now();
        let answer = self.link.solve(&query);
        let answer = question.checked(answer, &mut self.counters);
        self.counters.count(&answer, start.elapsed());
        match answer {
            Answer::Unknown(reason) => {
                question.reason = reason;
                return rest.solve(question);
            }
            Answer::Unsat => question.core = self.link.core().map(<[u32]>::to_vec),
            Answer::Sat(_) => {}
        }
        answer
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.counters)
    }
}
