//! Operations on texts become formulas over their bytes, for the stages that know no texts.

use crate::lowered::lowered;
use crate::query::{Answer, UnknownReason};
use crate::question::{Form, Question};
use crate::stage::{Rest, Stage};
use crate::texts::has_texts;

pub(crate) struct LoweringStage;

impl Stage for LoweringStage {
    fn name(&self) -> &'static str {
        "lowering"
    }

    fn applies(&self, question: &mut Question) -> bool {
        question.query().is_some_and(|query| has_texts(query.dag))
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        match question.query().and_then(|query| lowered(&query, question.max_nodes)) {
            Some(slice) => question.form = Form::Slice(Box::new(slice)),
            None => return Answer::Unknown(UnknownReason::Budget),
        }
        rest.solve(question)
    }
}
