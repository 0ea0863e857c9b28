//! Arithmetic inversion: the value that a condition wants is carried down through operators that
//! can be undone, until it reaches input bytes.
//!
//! Where an operator has two symbolic operands, one keeps its value and the other is solved for.
//! There are many such choices; a few are tried in a fixed order. What breaks another literal is
//! repaired by inverting that one too, without touching bytes that were already set. The result is
//! a guess that must hold on all literals: this link never answers "unsat".

use crate::inverse::{Choices, Step, steps};
use crate::query::{Answer, Effort, Link, Lit, Query, UnknownReason};
use expr::{Evaluator, Label, Op};
use rustc_hash::FxHashSet;

/// See the module.
#[derive(Default)]
pub struct InversionLink {
    evaluator: Evaluator,
}

/// How many combinations of choices are tried for the goal.
const MAX_ATTEMPTS: usize = 48;
/// Large queries get fewer attempts, so that no query costs more than the evaluation of about so
/// many nodes.
const MAX_NODES: usize = 100_000;
const MIN_ATTEMPTS: usize = 4;
/// How many broken literals are repaired in one attempt.
const MAX_REPAIRS: usize = 8;

impl InversionLink {
    pub const NAME: &'static str = "inversion";
}

impl Link for InversionLink {
    fn name(&self) -> &'static str {
        InversionLink::NAME
    }

    fn min_effort(&self) -> Effort {
        Effort::Quick
    }

    fn solve(&mut self, query: &Query) -> Answer {
        let mut seen = FxHashSet::default();
        for number in 0..attempts(query) {
            let mut attempt = Attempt::new(query, number);
            if attempt.run(&mut self.evaluator) {
                return Answer::Sat(attempt.input);
            }
            // Choices beyond those that were asked for change nothing.
            if !seen.insert(attempt.input) && number >= attempt.choices.combinations() {
                break;
            }
        }
        Answer::Unknown(UnknownReason::Unsupported)
    }
}

/// Repairs the literals that are broken on `input`, the bytes `kept` staying as they are; `None` if
/// that does not work.
pub(crate) fn repaired(query: &Query, input: &[u8], kept: &FxHashSet<u32>) -> Option<Vec<u8>> {
    let mut evaluator = Evaluator::new();
    (0..attempts(query)).find_map(|number| {
        let start =
            Attempt { input: input.to_vec(), set: kept.clone(), ..Attempt::new(query, number) };
        start.after_repairs(&mut evaluator)
    })
}

fn attempts(query: &Query) -> u32 {
    (MAX_NODES / query.dag.len()).clamp(MIN_ATTEMPTS, MAX_ATTEMPTS) as u32
}

/// One combination of choices.
struct Attempt<'q> {
    query: &'q Query<'q>,
    input: Vec<u8>,
    /// Bytes that have got their value.
    set: FxHashSet<u32>,
    choices: Choices,
}

impl<'q> Attempt<'q> {
    fn new(query: &'q Query<'q>, number: u32) -> Attempt<'q> {
        Attempt {
            query,
            input: query.current.to_vec(),
            set: FxHashSet::default(),
            choices: Choices::new(number),
        }
    }

    fn after_repairs(mut self, evaluator: &mut Evaluator) -> Option<Vec<u8>> {
        self.run(evaluator).then_some(self.input)
    }

    /// True if the input now satisfies everything.
    fn run(&mut self, evaluator: &mut Evaluator) -> bool {
        for _ in 0..=MAX_REPAIRS {
            let Some(broken) = self.first_broken(evaluator) else { return true };
            if !self.invert(evaluator, broken) {
                return false;
            }
        }
        self.first_broken(evaluator).is_none()
    }

    /// The goal if it is false, otherwise the first literal that is.
    fn first_broken(&self, evaluator: &mut Evaluator) -> Option<Lit> {
        let mut evaluation = evaluator.under(self.query.dag, &self.input);
        let goal_first = std::iter::once(self.query.goal).chain(self.query.path.iter().copied());
        goal_first.into_iter().find(|lit| evaluation.holds(lit.label) != lit.value)
    }

    /// Makes one literal true, as far as inversion goes; false if it cannot.
    fn invert(&mut self, evaluator: &mut Evaluator, lit: Lit) -> bool {
        let input = self.input.clone();
        let mut evaluation = evaluator.under(self.query.dag, &input);
        let mut wanted: Vec<(Label, u128)> = vec![(lit.label, u128::from(lit.value))];
        while let Some((label, value)) = wanted.pop() {
            if evaluation.eval(label) == value {
                continue;
            }
            match steps(self.query.dag, &mut evaluation, label, value, &mut self.choices) {
                Step::Down(next) => wanted.extend(next),
                Step::Leaf if !self.set_leaf(label, value) => return false,
                Step::Leaf => {}
                Step::Stuck => return false,
            }
        }
        true
    }

    fn set_leaf(&mut self, label: Label, value: u128) -> bool {
        let node = self.query.dag.node(label);
        if self.query.dag.op(label) == Op::Len {
            let fits = value <= self.query.max_len as u128;
            if fits {
                self.input.resize(value as usize, self.query.filler);
            }
            return fits;
        }
        match self.input.get_mut(node.a as usize) {
            Some(byte) if self.set.insert(node.a) => *byte = value as u8,
            Some(byte) => return u128::from(*byte) == value,
            None => return false,
        }
        true
    }
}
