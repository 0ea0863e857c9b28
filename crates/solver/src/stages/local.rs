//! Solves for some of the goal's own variables while all others keep their values.

use crate::counters::Counters;
use crate::query::{Answer, Lit, UnknownReason};
use crate::question::{Component, Question};
use crate::slice::{Slice, Slicer};
use crate::stage::{Rest, Stage, Stages};
use expr::{Dag, Evaluator, Label, Support};
use std::time::Instant;

pub(crate) struct LocalStage {
    /// Who is asked about the slice with most bytes fixed.
    stages: Stages,
    counters: Counters,
}

/// Numbers of last bytes of a goal that are tried alone.
const WINDOWS: [u32; 2] = [4, 16];
/// Goals that hang together with at most so many literals, and have at most so many bytes, are
/// solved as they are.
const FEW_LITERALS: usize = 16;
const FEW_BYTES: usize = 8;
/// Goals with more bytes are not tried with all of their bytes free and others fixed.
const MAX_WINDOW: usize = 64;

impl LocalStage {
    pub(crate) fn new(stages: Stages) -> LocalStage {
        LocalStage { stages, counters: Counters::default() }
    }

    /// Only "sat" carries over to the whole question.
    fn solve_window(&mut self, question: &mut Question, free: &Support) -> Answer {
        let Some(slice) = window_slice(question, free) else {
            return Answer::Unknown(UnknownReason::Budget);
        };
        if slice.is_contradictory() {
            return Answer::UNSUPPORTED;
        }
        match self.stages.solve(&mut question.about(slice)) {
            Answer::Sat(input) => Answer::Sat(input),
            _ => Answer::UNSUPPORTED,
        }
    }
}

impl Stage for LocalStage {
    fn name(&self) -> &'static str {
        "local"
    }

    fn applies(&self, question: &mut Question) -> bool {
        let is_small = question.component().literals.len() <= FEW_LITERALS
            && question.goal.support.byte_count() <= FEW_BYTES;
        !is_small && question.is_flip()
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        let component = question.component();
        for free in windows(question, &component) {
            let start = Instant::now();
            let answer = self.solve_window(question, &free);
            self.counters.count(&answer, start.elapsed());
            if answer.is_known() {
                question.is_local = true;
                return answer;
            }
        }
        rest.solve(question)
    }

    fn counters(&self) -> Option<Counters> {
        let wrong = self.stages.counters().map(|(_, counters)| counters.wrong).sum();
        Some(Counters { wrong, ..self.counters })
    }
}

/// The sets of variables to try: the last bytes of the goal, then all of its bytes if it shares
/// literals with others. In a scan from left to right the last bytes decide.
fn windows(question: &Question, component: &Component) -> Vec<Support> {
    let support = &question.goal.support;
    let count = support.byte_count();
    let last = WINDOWS.into_iter().filter(|&window| (window as usize) < count);
    let mut windows: Vec<Support> = last.map(|window| support.last_bytes(window)).collect();
    let is_foreign = |&number: &u32| !support.covers(question.path.support_of(number));
    if count <= MAX_WINDOW && component.literals.iter().any(is_foreign) {
        windows.push(support.clone());
    }
    windows
}

/// What matters for the `free` variables, the others having their current values. `None` if it
/// gets too large.
fn window_slice(question: &mut Question, free: &Support) -> Option<Slice> {
    let mut slicer = Slicer::new(question.path.dag);
    if free.uses_len() {
        question.add_length(&mut slicer);
    }
    let lits = concerned(question, free);
    let path = &mut *question.path;
    let (dag, current, supports) = (path.dag, path.current, &mut path.supports);
    let values = path.values.get_or_insert_with(|| started(dag, current));
    let mut evaluation = values.again(dag, current);
    let mut fixed = |label: Label| {
        let id = supports.of(dag, label);
        (!supports.get(id).intersects(free)).then(|| evaluation.eval(label))
    };
    for lit in lits.into_iter().chain([question.goal.lit]) {
        slicer.add_fixed(lit, &mut fixed);
        if slicer.len() > question.max_nodes {
            return None;
        }
    }
    Some(slicer.finish())
}

/// The literals that depend on free variables, but for those that the length's domain stands for.
fn concerned(question: &mut Question, free: &Support) -> Vec<Lit> {
    let is_summarised = free.uses_len() && question.length_interval().is_some();
    let component = question.component();
    let path = &*question.path;
    let is_concerned = |&number: &u32| {
        let support = path.support_of(number);
        support.intersects(free) && !(is_summarised && *support == Support::length())
    };
    let numbers = component.literals.iter().copied().filter(is_concerned);
    numbers.map(|number| path.path[number as usize]).collect()
}

/// Memory for the values on an input.
fn started(dag: &Dag, input: &[u8]) -> Evaluator {
    let mut values = Evaluator::new();
    values.under(dag, input);
    values
}
