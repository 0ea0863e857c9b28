//! Goals whose bytes have few values left: all of their combinations are tried.
//!
//! Conditions on one byte alone leave parsers and command processors a handful of values for each
//! byte, so that the product of a few bytes' domains is smaller than any other way to look at the
//! conditions that tie them together. What such a condition takes from one byte is a function of
//! it; values of a byte for which all of these functions agree cannot be told apart, and one of
//! them is tried. Bytes are chosen one after the other, and a literal is looked at once the last of
//! its bytes has a value. The answer is exact.

use crate::byte_set::ByteSet;
use crate::query::Lit;
use expr::{Dag, Label, Place, Staged, TooMuch, Values};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Combinations that are tried where nothing is decided before the last byte, and nodes that a
/// question may look at.
const MAX_COMBINATIONS: usize = 1 << 14;
const MAX_STEPS: u64 = 1 << 20;

/// What a product has to know about the nodes and bytes of a question.
pub(crate) trait Ground {
    /// Whether questions may be about the literal of the path with this number: it depends on
    /// several bytes, and does not hold whatever they are.
    fn ties(&self, number: u32) -> bool;

    /// `None` if a node depends on one byte only, but is no function of it that words hold.
    fn part(&mut self, label: Label) -> Option<Part>;

    /// The place, from 1 on, of the last of these bytes that the node depends on; 0 if it depends
    /// on none.
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

/// A question: the literals of a path with these numbers, which increase, and the goal, all of
/// which depend on nothing but `bytes`.
pub(crate) struct ProductQuery<'q> {
    pub path: &'q [Lit],
    pub numbers: &'q [u32],
    pub goal: Lit,
    /// In the order in which they are chosen: values of later ones change first.
    pub bytes: &'q [u32],
    /// How many literals of the path come before the goal.
    pub prefix: u32,
}

impl ProductQuery<'_> {
    /// The goal first: most fail by themselves.
    fn lits(&self) -> impl Iterator<Item = Lit> + '_ {
        [self.goal].into_iter().chain(self.numbers.iter().map(|&number| self.path[number as usize]))
    }
}

/// Memory for all questions about one path.
#[derive(Default)]
pub(crate) struct Product {
    /// Which functions each literal takes from bytes that none before it takes, as far as the path
    /// was looked at.
    new_functions: Vec<Option<Functions>>,
    /// One more than the number of the first literal that a node is a part of.
    first: Vec<u32>,
    /// The last question whose goal a node is a part of.
    in_goal: Vec<u32>,
    marks: Vec<Mark>,
    question: u32,
    staged: Staged,
}

type Functions = Vec<(u32, Arc<Values>)>;

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
    /// Values of the bytes that make all literals true: `Some(None)` if there are none, `None` if
    /// it takes too long to say. All questions are about the same path.
    pub(crate) fn solve(
        &mut self,
        dag: &Dag,
        query: &ProductQuery,
        ground: &mut dyn Ground,
    ) -> Option<Option<Vec<(u32, u8)>>> {
        self.start(dag);
        let bytes = query.bytes;
        let choices = self.choices(dag, query, ground)?;
        let mut by_stage: Vec<Vec<Lit>> = vec![Vec::new(); bytes.len() + 1];
        for lit in query.lits() {
            by_stage[ground.stage(lit.label, bytes) as usize].push(lit);
        }
        // Where literals rule out values of the first bytes, there are fewer combinations than it
        // seems.
        let is_pruned = by_stage.iter().take(bytes.len()).any(|lits| !lits.is_empty());
        if !is_pruned && combinations(&choices) > MAX_COMBINATIONS {
            return None;
        }
        self.staged.start(dag, bytes.len(), MAX_STEPS);
        let Product { marks, question, staged, .. } = self;
        let view = View {
            marks,
            question: *question,
            functions: Vec::new(),
            chosen: vec![0; bytes.len() + 1],
        };
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
            self.first.resize(dag.len(), 0);
            self.in_goal.resize(dag.len(), 0);
        }
        self.question = self.question.wrapping_add(1);
        if self.question == 0 {
            self.marks.fill(Mark::default());
            self.in_goal.fill(0);
            self.question = 1;
        }
    }

    /// The values to try for each byte: of those that no function of the literals tells apart, the
    /// first.
    fn choices(
        &mut self,
        dag: &Dag,
        query: &ProductQuery,
        ground: &mut dyn Ground,
    ) -> Option<Vec<Vec<u8>>> {
        let last = query.numbers.last().map_or(0, |&last| last as usize + 1);
        self.look_at(dag, &query.path[..last], ground);
        let goal = self.functions_of_goal(dag, query, ground)?;
        let mut of_byte: Vec<Vec<Arc<Values>>> = vec![Vec::new(); query.bytes.len()];
        let mut seen = FxHashSet::default();
        let mut add = |functions: &Functions| {
            for (byte, values) in functions {
                if seen.insert((*byte, Arc::as_ptr(values))) {
                    let place = query.bytes.iter().position(|other| other == byte)?;
                    of_byte[place].push(Arc::clone(values));
                }
            }
            Some(())
        };
        add(&goal)?;
        for &number in query.numbers {
            add(self.new_functions[number as usize].as_ref()?)?;
        }
        let choice = |(byte, functions): (&u32, Vec<Arc<Values>>)| {
            let (domain, current) = ground.domain(*byte);
            told_apart(domain.preferred(current).collect(), &functions)
        };
        Some(query.bytes.iter().zip(of_byte).map(choice).collect())
    }

    /// Finds out what the literals of a path take from bytes. A node that two literals share ties
    /// their bytes together, so that what the second takes from it is among the functions of a
    /// literal that a question about the second is about, too.
    fn look_at(&mut self, dag: &Dag, path: &[Lit], ground: &mut dyn Ground) {
        for (number, lit) in path.iter().enumerate().skip(self.new_functions.len()) {
            let (first, stamp) = (&mut self.first, number as u32 + 1);
            let mut is_new = |label: Label| {
                let is_new = first[label as usize] == 0;
                if is_new {
                    first[label as usize] = stamp;
                }
                is_new
            };
            let functions = match ground.ties(number as u32) {
                true => collect(dag, lit.label, &mut is_new, ground),
                false => Some(Vec::new()),
            };
            self.new_functions.push(functions);
        }
    }

    /// What the goal takes from bytes and no literal before it does.
    fn functions_of_goal(
        &mut self,
        dag: &Dag,
        query: &ProductQuery,
        ground: &mut dyn Ground,
    ) -> Option<Functions> {
        let Product { first, in_goal, question, .. } = self;
        let mut is_new = |label: Label| {
            let (first, place) = (first[label as usize], &mut in_goal[label as usize]);
            let is_known = (1..=query.prefix).contains(&first) || *place == *question;
            *place = *question;
            !is_known
        };
        collect(dag, query.goal.label, &mut is_new, ground)
    }
}

/// The functions that the largest parts of a node are that depend on one byte, as far as nodes are
/// new.
fn collect(
    dag: &Dag,
    label: Label,
    is_new: &mut dyn FnMut(Label) -> bool,
    ground: &mut dyn Ground,
) -> Option<Functions> {
    let mut functions = Vec::new();
    let mut todo = vec![label];
    while let Some(label) = todo.pop() {
        if label == 0 || !is_new(label) {
            continue;
        }
        match ground.part(label)? {
            Part::Function { byte, values } => functions.push((byte, values)),
            Part::Node => todo.extend(dag.operands(label).iter().chain(dag.table_labels(label))),
        }
    }
    Some(functions)
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
