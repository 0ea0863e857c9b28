//! Cuts out of the path what matters for the goal: from here on there is a query.

use crate::query::{Answer, UnknownReason};
use crate::question::{Component, Form, Question};
use crate::slice::{Slice, Slicer};
use crate::stage::{Rest, Stage};
use expr::Support;
use rustc_hash::FxHashSet;

pub(crate) struct SlicingStage;

impl Stage for SlicingStage {
    fn name(&self) -> &'static str {
        "slicing"
    }

    fn keeps_languages(&self) -> bool {
        true
    }

    fn applies(&self, question: &mut Question) -> bool {
        matches!(question.form, Form::Goal)
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        match cut(question) {
            Some(slice) if slice.is_contradictory() => return Answer::Unsat,
            Some(slice) => question.form = Form::Slice(Box::new(slice)),
            None => question.close(Form::TooLarge, UnknownReason::Budget),
        }
        rest.solve(question)
    }
}

/// `None` if it gets too large.
fn cut(question: &mut Question) -> Option<Slice> {
    let mut slicer = Slicer::new(question.path.dag);
    let component = question.component();
    let has_length = mentions_length(question, &component);
    let is_summarised = has_length && question.length_interval().is_some();
    let mut limited = FxHashSet::default();
    for &number in &component.literals {
        let support = question.path.support_of(number);
        if let Some(byte) = support.single_byte().filter(|&byte| is_crowded(question, byte)) {
            if limited.insert(byte) {
                slicer.limit_byte(byte, question.byte_domain(byte));
            }
        } else if !(is_summarised && *support == Support::length()) {
            slicer.add(question.path.path[number as usize]);
        }
        if slicer.len() > question.max_nodes {
            return None;
        }
    }
    if has_length {
        question.add_length(&mut slicer);
    }
    for &lit in question.goal.extra {
        slicer.add(lit);
    }
    slicer.add(question.goal.lit);
    (slicer.len() <= question.max_nodes).then(|| slicer.finish())
}

/// Whether the domain of a byte is shorter than the path's literals on it alone.
fn is_crowded(question: &Question, byte: u32) -> bool {
    question.path.domains.is_crowded(byte, question.goal.prefix as u32)
}

fn mentions_length(question: &mut Question, component: &Component) -> bool {
    let (path, goal) = (&mut *question.path, question.goal);
    goal.support.uses_len()
        || component.literals.iter().any(|&number| path.support_of(number).uses_len())
        || goal.extra.iter().any(|lit| {
            let id = path.supports.of(path.dag, lit.label);
            path.supports.get(id).uses_len()
        })
}
