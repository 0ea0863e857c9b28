//! A stage that hardly ever has an answer gets few questions.

use crate::counters::Counters;
use crate::query::{Answer, Effort};
use crate::question::Question;
use crate::stage::{Rest, Stage};

/// Another stage, asked as often as its answers are worth it.
pub(crate) struct Selective<S> {
    stage: S,
    /// Questions in a row that were not worth asking.
    passed_over: u64,
}

/// Questions after which a stage has to have shown what it is worth.
const TRIED: u64 = 64;
/// One answer in so many questions shows it.
const WORTH: u64 = 64;
/// How many questions one without them still gets.
const ONE_IN: u64 = 8;

impl<S: Stage> Selective<S> {
    pub(crate) fn new(stage: S) -> Selective<S> {
        Selective { stage, passed_over: 0 }
    }

    fn is_worth_asking(&mut self) -> bool {
        let Counters { asked, sat, .. } = self.stage.counters().unwrap_or_default();
        let is_worth = asked < TRIED || sat * WORTH >= asked;
        self.passed_over = if is_worth { 0 } else { self.passed_over + 1 };
        is_worth || self.passed_over.is_multiple_of(ONE_IN)
    }
}

impl<S: Stage> Stage for Selective<S> {
    fn name(&self) -> &'static str {
        self.stage.name()
    }

    fn min_effort(&self) -> Effort {
        self.stage.min_effort()
    }

    fn keeps_languages(&self) -> bool {
        self.stage.keeps_languages()
    }

    fn applies(&self, question: &mut Question) -> bool {
        self.stage.applies(question)
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        if self.is_worth_asking() { self.stage.solve(question, rest) } else { rest.solve(question) }
    }

    fn counters(&self) -> Option<Counters> {
        self.stage.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Asked(Counters);

    impl Stage for Asked {
        fn name(&self) -> &'static str {
            "asked"
        }

        fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
            rest.solve(question)
        }

        fn counters(&self) -> Option<Counters> {
            Some(self.0)
        }
    }

    fn worth_of(asked: u64, sat: u64) -> usize {
        let mut stage = Selective::new(Asked(Counters { asked, sat, ..Counters::default() }));
        (0..ONE_IN).filter(|_| stage.is_worth_asking()).count()
    }

    #[test]
    fn a_stage_without_answers_gets_one_question_in_eight() {
        assert_eq!(worth_of(TRIED - 1, 0), 8);
        assert_eq!(worth_of(TRIED, 1), 8);
        assert_eq!(worth_of(TRIED, 0), 1);
        assert_eq!(worth_of(10 * WORTH, 9), 1);
    }
}
