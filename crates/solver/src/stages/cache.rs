//! Answers to slices that were asked about before.

use crate::cache::{Cache, CacheKey};
use crate::counters::Counters;
use crate::query::Answer;
use crate::question::{Form, Question};
use crate::stage::{Rest, Stage};
use std::time::Instant;

#[derive(Default)]
pub(crate) struct CacheStage {
    cache: Cache,
    counters: Counters,
}

impl Stage for CacheStage {
    fn name(&self) -> &'static str {
        "cache"
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        let Some(query) = question.query() else { return rest.solve(question) };
        let start = Instant::now();
        let key = CacheKey::new(&query);
        let cached = self.cache.get(&key, &query);
        let is_new = cached.is_none();
        let answer = question.checked(cached.unwrap_or(Answer::UNSUPPORTED), &mut self.counters);
        self.counters.count(&answer, start.elapsed());
        match answer {
            Answer::Unknown(_) if is_new => self.ask_and_keep(key, question, rest),
            Answer::Unknown(reason) => {
                // All who look at the slice were asked before.
                question.close(Form::GivenUp, reason);
                rest.solve(question)
            }
            answer => answer,
        }
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.counters)
    }
}

impl CacheStage {
    fn ask_and_keep(&mut self, key: CacheKey, question: &mut Question, rest: Rest) -> Answer {
        let answer = rest.solve(question);
        // What a stage was passed over for is not known to be hard.
        let is_final = !question.passed_over || answer.is_known();
        if is_final && !question.is_local {
            self.cache.put(key, &answer, question.effort);
        }
        answer
    }
}
