//! Slices that run through a hash get quick attempts only.

use crate::mixing::is_hashed;
use crate::query::{Answer, Effort};
use crate::question::Question;
use crate::stage::{Rest, Stage};

pub(crate) struct HashingStage;

impl Stage for HashingStage {
    fn name(&self) -> &'static str {
        "hashing"
    }

    fn min_effort(&self) -> Effort {
        Effort::Full
    }

    fn applies(&self, question: &mut Question) -> bool {
        question.query().is_some_and(|query| is_hashed(&query))
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        let effort = std::mem::replace(&mut question.effort, Effort::Quick);
        let answer = rest.solve(question);
        question.effort = effort;
        answer
    }
}
