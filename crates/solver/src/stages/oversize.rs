//! Components that are known to be too large for a slice are not cut out again.

use crate::query::{Answer, UnknownReason};
use crate::question::{Form, Question};
use crate::stage::{Rest, Stage};

pub(crate) struct OversizeStage;

impl Stage for OversizeStage {
    fn name(&self) -> &'static str {
        "oversize"
    }

    fn keeps_languages(&self) -> bool {
        true
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        let (component, nodes) = (question.component(), question.max_nodes);
        let (roots, prefix) = (&component.roots, question.goal.prefix as u32);
        if question.path.oversize.holds(&question.path.components, roots, prefix, nodes) {
            question.close(Form::TooLarge, UnknownReason::Budget);
            return rest.solve(question);
        }
        let answer = rest.solve(question);
        if matches!(question.form, Form::TooLarge) {
            question.path.oversize.note(roots, prefix, nodes);
        }
        answer
    }
}
