//! Goals whose bytes have few values left: all of their combinations are tried.
//!
//! Conditions on one byte alone leave parsers and command processors a handful of values for each byte, so that the product of a few
//! bytes' domains is smaller than any other way to look at the conditions that tie them together. What such a condition takes from one byte is a
//! function of it; values of a byte for which all of these functions agree cannot be told apart, and one of them is tried. Bytes are
//! chosen one after the other, and a literal is looked at once the last of its bytes has a value. The answer is exact.

use crate::byte_set::ByteSet;
use crate::query::Lit;
use expr::{Dag, Label, Place, Staged, TooMuch, Values};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Combinations that are tried, and nodes that this may look at.
const MOST_COMBINATIONS: usize = 1 << 14;
const MOST_STEPS: u64 = 1 << 20;

/// What the literals of one question are made of, and memory for the next question about the same path.
#[derive(Default)]
pub(crate) struct Product {
    marks: Vec<Mark>,
    question: u32,
    todo: Vec<Label>,
    /// For each stage, the functions that the literals take from its byte, each once.
    functions: Vec<Vec<Arc<Values>>>,
    /// Their numbers by stage and address.
    numbers: FxHashMap<(u32, *const Values), u32>,
    staged: Staged,
}

/// What is known about a node in this question.
#[derive(Clone, Copy, Default)]
struct Mark {
    question: u32,
    stage: u32,
    /// The number of its function among those of its stage, or `NONE`.
    function: u32,
}

const NONE: u32 = u32::MAX;

/// A byte of the input and the values that it may have, those to try first first.
pub(crate) struct Choice {
    byte: u32,
    values: Vec<u8>,
}

impl Product {
    /// Begins with a question about so many bytes; all questions are about the same Dag.
    pub(crate) fn start(&mut self, dag: &Dag, bytes: usize) {
        if self.marks.len() < dag.len() {
            self.marks.resize(dag.len(), Mark::default());
        }
        self.question = self.question.wrapping_add(1);
        if self.question == 0 {
            self.marks.fill(Mark::default());
            self.question = 1;
        }
        self.todo.clear();
        self.functions.clear();
        self.functions.resize(bytes + 1, Vec::new());
        self.numbers.clear();
    }

    /// The literals depend on `label`.
    pub(crate) fn reach(&mut self, label: Label) {
        let mark = &mut self.marks[label as usize];
        if label != 0 && mark.question != self.question {
            *mark = Mark { question: self.question, stage: 0, function: NONE };
            self.todo.push(label);
        }
    }

    /// A node that was reached and is to be added now.
    pub(crate) fn next(&mut self) -> Option<Label> {
        self.todo.pop()
    }

    /// `label` is a function of the byte of a stage.
    pub(crate) fn add_function(&mut self, label: Label, stage: u32, values: Arc<Values>) {
        let functions = &mut self.functions[stage as usize];
        let number = *self.numbers.entry((stage, Arc::as_ptr(&values))).or_insert(functions.len() as u32);
        if number as usize == functions.len() {
            functions.push(values);
        }
        let mark = &mut self.marks[label as usize];
        (mark.stage, mark.function) = (stage, number);
    }

    /// `label` depends on several bytes, of which that of the stage is chosen last, or on none (stage 0).
    pub(crate) fn add_node(&mut self, dag: &Dag, label: Label, stage: u32) {
        self.marks[label as usize].stage = stage;
        for &operand in dag.operands(label).iter().chain(dag.table_labels(label)) {
            self.reach(operand);
        }
    }

    /// The choice of a stage, once all nodes were added: of values that no function tells apart, the first.
    pub(crate) fn choice(&self, stage: u32, byte: u32, domain: ByteSet, current: Option<u8>) -> Choice {
        let values: Vec<u8> = domain.preferred(current).collect();
        Choice { byte, values: told_apart(values, &self.functions[stage as usize]) }
    }

    /// Values that make all literals true, one for each choice, of which there is one for each stage: `Some(None)` if there are none,
    /// `None` if it takes too long to say. Values of later choices change first.
    pub(crate) fn solve(
        &mut self,
        dag: &Dag,
        lits: &[Lit],
        choices: &[Choice],
    ) -> Option<Option<Vec<(u32, u8)>>> {
        let combinations =
            choices.iter().try_fold(1usize, |product, choice| product.checked_mul(choice.values.len()))?;
        if combinations > MOST_COMBINATIONS {
            return None;
        }
        let mut by_stage: Vec<Vec<Lit>> = vec![Vec::new(); choices.len() + 1];
        for lit in lits {
            by_stage[self.marks[lit.label as usize].stage as usize].push(*lit);
        }
        self.staged.start(dag, choices.len(), MOST_STEPS);
        let Product { marks, functions, staged, .. } = self;
        let mut search = Search { dag, marks, functions, staged, chosen: vec![0; choices.len() + 1] };
        if !search.all_hold(&by_stage[0]).ok()? {
            return Some(None);
        }
        let found = search.run(&by_stage, choices)?;
        let values = |chosen: Vec<u8>| choices.iter().map(|choice| choice.byte).zip(chosen).collect();
        Some(found.map(values))
    }
}

/// The first of the values of each class, those being in one class for which all functions agree.
fn told_apart(values: Vec<u8>, functions: &[Arc<Values>]) -> Vec<u8> {
    let mut class = vec![0; values.len()];
    // The first value of each class.
    let mut first: Vec<u8> = values.first().copied().into_iter().collect();
    for of in functions {
        let of = |value: u8| of[usize::from(value)];
        let splits = |(&value, &class): (&u8, &usize)| of(value) != of(first[class]);
        if first.len() == values.len() || !values.iter().zip(&class).any(splits) {
            continue;
        }
        let mut finer: FxHashMap<(usize, u64), usize> = FxHashMap::default();
        first.clear();
        for (&value, class) in values.iter().zip(&mut class) {
            *class = *finer.entry((*class, of(value))).or_insert_with(|| {
                first.push(value);
                first.len() - 1
            });
        }
    }
    first
}

struct Search<'p> {
    dag: &'p Dag,
    marks: &'p [Mark],
    functions: &'p [Vec<Arc<Values>>],
    staged: &'p mut Staged,
    /// The value of each stage.
    chosen: Vec<u8>,
}

impl Search<'_> {
    /// Depth first.
    fn run(&mut self, by_stage: &[Vec<Lit>], choices: &[Choice]) -> Option<Option<Vec<u8>>> {
        let mut next = vec![0];
        while !next.is_empty() {
            let stage = next.len();
            let Some(choice) = choices.get(stage - 1) else {
                return Some(Some(self.chosen[1..].to_vec()));
            };
            let Some(&value) = choice.values.get(next[stage - 1]) else {
                next.pop();
                continue;
            };
            next[stage - 1] += 1;
            self.chosen[stage] = value;
            self.staged.change(stage);
            if self.all_hold(&by_stage[stage]).ok()? {
                next.push(0);
            }
        }
        Some(None)
    }

    fn all_hold(&mut self, lits: &[Lit]) -> Result<bool, TooMuch> {
        let Search { dag, marks, functions, staged, chosen } = self;
        let mut place = |label: Label| {
            let Mark { stage, function, .. } = marks[label as usize];
            let value = functions[stage as usize].get(function as usize);
            let value = value.map(|of| of[usize::from(chosen[stage as usize])]);
            Place { stage, value }
        };
        for lit in lits {
            if (staged.eval(dag, lit.label, &mut place)? == 1) != lit.value {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
