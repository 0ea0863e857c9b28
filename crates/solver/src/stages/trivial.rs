//! Slices of which nothing is left: every literal is true whatever the input is.

use crate::query::{Answer, UnknownReason};
use crate::question::{Form, Question};
use crate::stage::{Rest, Stage};

pub(crate) struct TrivialStage;

impl Stage for TrivialStage {
    fn name(&self) -> &'static str {
        "trivial"
    }

    fn applies(&self, question: &mut Question) -> bool {
        matches!(&question.form, Form::Slice(slice) if slice.lits.is_empty())
    }

    fn solve(&mut self, question: &mut Question, _rest: Rest) -> Answer {
        let current = question.path.current;
        if question.check(current) {
            Answer::Sat(current.to_vec())
        } else {
            Answer::Unknown(UnknownReason::WrongModel)
        }
    }
}
