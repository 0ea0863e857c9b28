//! Goals whose bytes have few values left: all of their combinations are tried.
//!
//! Conditions on one byte alone leave parsers and command processors a handful of values for each byte, so that the product of a few
//! bytes' domains is smaller than any other way to look at the conditions that tie them together. What such a condition takes from one byte is a
//! function of it; values of a byte for which all of these functions agree cannot be told apart, and one of them is tried. Bytes are
//! chosen one after the other, and a literal is looked at once the last of its bytes has a value. The answer is exact.

use crate::byte_set::ByteSet;
use crate::query::Lit;
use expr::{Dag, Label, Place, Staged, TooMuch, Values};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// Combinations that are tried where nothing is decided before the last byte, and nodes that a question may look at.
const MOST_COMBINATIONS: usize = 1 << 14;
const MOST_STEPS: u64 = 1 << 20;

/// What a product has to know about the nodes and bytes of a question.
pub(crate) trait Ground {
    /// `None` if a node depends on one byte only, but is no function of it that words hold.
    fn part(&mut self, label: Label) -> Option<Part>;

    /// The place, from 1 on, of the last of these bytes that the node depends on; 0 if it depends on none.
    fn stage(&mut self, label: Label, bytes: &[u32]) -> u32;

    /// What is left for a byte, and the value to try first.
    fn domain(&mut self, byte: u32) -> (ByteSet, Option<u8>);
}

pub(crate) enum Part {
    /// The largest part of a literal, or a part of one, that depends on one byte.
    Function { byte: u32, values: Arc<Values> },
    /// What depends on several bytes, or on none.
    Node,
}

/// Memory for all questions about one path.
#[derive(Default)]
pub(crate) struct Product {
    /// Of each literal that was asked about: the functions that it takes from bytes.
    of_literal: FxHashMap<Label, Option<Functions>>,
    /// Nodes that the current walk has seen.
    seen: Vec<u32>,
    walk: u32,
    marks: Vec<Mark>,
    question: u32,
    staged: Staged,
}

type Functions = Rc<[(u32, Arc<Values>)]>;

/// What is known about a node in this question.
#[derive(Clone, Copy, Default)]
struct Mark {
    question: u32,
    stage: u32,
    /// The number of its function, or `NONE`.
    function: u32,
}

const NONE: u32 = u32::MAX;

impl Product {
    /// Values of `bytes` that make all literals true, which depend on nothing else: `Some(None)` if there are none, `None` if it takes
    /// too long to say. Values of later bytes change first. All questions are about the same Dag.
    pub(crate) fn solve(
        &mut self,
        dag: &Dag,
        lits: &[Lit],
        bytes: &[u32],
        ground: &mut dyn Ground,
    ) -> Option<Option<Vec<(u32, u8)>>> {
        let choices = self.choices(dag, lits, bytes, ground)?;
        let mut by_stage: Vec<Vec<Lit>> = vec![Vec::new(); bytes.len() + 1];
        for lit in lits {
            by_stage[ground.stage(lit.label, bytes) as usize].push(*lit);
        }
        // Where literals rule out values of the first bytes, there are fewer combinations than it seems.
        let is_pruned = by_stage.iter().take(bytes.len()).any(|lits| !lits.is_empty());
        if !is_pruned && combinations(&choices) > MOST_COMBINATIONS {
            return None;
        }
        self.start(dag);
        self.staged.start(dag, bytes.len(), MOST_STEPS);
        let Product { marks, question, staged, .. } = self;
        let view =
            View { marks, question: *question, functions: Vec::new(), chosen: vec![0; bytes.len() + 1] };
        let mut search = Search { dag, bytes, staged, view, ground };
        if !search.all_hold(&by_stage[0]).ok()? {
            return Some(None);
        }
        let found = search.run(&by_stage, &choices)?;
        Some(found.map(|chosen| bytes.iter().copied().zip(chosen).collect()))
    }

    fn start(&mut self, dag: &Dag) {
        if self.marks.len() < dag.len() {
            self.marks.resize(dag.len(), Mark::default());
        }
        self.question = self.question.wrapping_add(1);
        if self.question == 0 {
            self.marks.fill(Mark::default());
            self.question = 1;
        }
    }

    /// The values to try for each byte: of those that no function of the literals tells apart, the first.
    fn choices(
        &mut self,
        dag: &Dag,
        lits: &[Lit],
        bytes: &[u32],
        ground: &mut dyn Ground,
    ) -> Option<Vec<Vec<u8>>> {
        let mut of_byte: Vec<Vec<Arc<Values>>> = vec![Vec::new(); bytes.len()];
        let mut seen = FxHashSet::default();
        for lit in lits {
            for (byte, values) in self.functions_of(dag, lit.label, ground)?.iter() {
                if seen.insert((*byte, Arc::as_ptr(values))) {
                    let place = bytes.iter().position(|other| other == byte)?;
                    of_byte[place].push(Arc::clone(values));
                }
            }
        }
        let choice = |(byte, functions): (&u32, Vec<Arc<Values>>)| {
            let (domain, current) = ground.domain(*byte);
            told_apart(domain.preferred(current).collect(), &functions)
        };
        Some(bytes.iter().zip(of_byte).map(choice).collect())
    }

    fn functions_of(&mut self, dag: &Dag, label: Label, ground: &mut dyn Ground) -> Option<Functions> {
        if let Some(known) = self.of_literal.get(&label) {
            return known.clone();
        }
        let functions = self.collect(dag, label, ground);
        self.of_literal.insert(label, functions.clone());
        functions
    }

    /// Walks down to the largest parts that depend on one byte.
    fn collect(&mut self, dag: &Dag, label: Label, ground: &mut dyn Ground) -> Option<Functions> {
        if self.seen.len() < dag.len() {
            self.seen.resize(dag.len(), 0);
        }
        self.walk = self.walk.checked_add(1)?;
        let (mut functions, mut known) = (Vec::new(), FxHashSet::default());
        let mut todo = vec![label];
        while let Some(label) = todo.pop() {
            if label == 0 || self.seen[label as usize] == self.walk {
                continue;
            }
            self.seen[label as usize] = self.walk;
            match ground.part(label)? {
                Part::Function { byte, values } => {
                    if known.insert((byte, Arc::as_ptr(&values))) {
                        functions.push((byte, values));
                    }
                }
                Part::Node => todo.extend(dag.operands(label).iter().chain(dag.table_labels(label))),
            }
        }
        Some(functions.into())
    }
}

fn combinations(choices: &[Vec<u8>]) -> usize {
    choices.iter().fold(1, |product, values| product.saturating_mul(values.len()))
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
    bytes: &'p [u32],
    staged: &'p mut Staged,
    view: View<'p>,
    ground: &'p mut dyn Ground,
}

/// What nodes are, given the values chosen.
struct View<'p> {
    marks: &'p mut [Mark],
    question: u32,
    functions: Vec<Arc<Values>>,
    /// The value of each stage.
    chosen: Vec<u8>,
}

impl View<'_> {
    fn place(&mut self, label: Label, bytes: &[u32], ground: &mut dyn Ground) -> Option<Place> {
        if self.marks[label as usize].question != self.question {
            self.marks[label as usize] = self.mark(label, bytes, ground)?;
        }
        let Mark { stage, function, .. } = self.marks[label as usize];
        let values = self.functions.get(function as usize);
        let value = values.map(|of| of[usize::from(self.chosen[stage as usize])]);
        Some(Place { stage, value })
    }

    fn mark(&mut self, label: Label, bytes: &[u32], ground: &mut dyn Ground) -> Option<Mark> {
        let function = match ground.part(label)? {
            Part::Node => NONE,
            Part::Function { values, .. } => {
                self.functions.push(values);
                self.functions.len() as u32 - 1
            }
        };
        Some(Mark { question: self.question, stage: ground.stage(label, bytes), function })
    }
}

impl Search<'_> {
    /// Depth first.
    fn run(&mut self, by_stage: &[Vec<Lit>], choices: &[Vec<u8>]) -> Option<Option<Vec<u8>>> {
        let mut next = vec![0];
        while !next.is_empty() {
            let stage = next.len();
            let Some(values) = choices.get(stage - 1) else {
                return Some(Some(self.view.chosen[1..].to_vec()));
            };
            let Some(&value) = values.get(next[stage - 1]) else {
                next.pop();
                continue;
            };
            next[stage - 1] += 1;
            self.view.chosen[stage] = value;
            self.staged.change(stage);
            if self.all_hold(&by_stage[stage]).ok()? {
                next.push(0);
            }
        }
        Some(None)
    }

    fn all_hold(&mut self, lits: &[Lit]) -> Result<bool, TooMuch> {
        let Search { dag, bytes, staged, view, ground } = self;
        let mut place = |label: Label| view.place(label, bytes, &mut **ground);
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
