//! Goals whose bytes have few values left: all values of the bytes that hang together with the goal
//! are tried.

use crate::byte_set::ByteSet;
use crate::counters::Counters;
use crate::intervals::{Interval, Intervals, number};
use crate::path_domains::PathDomains;
use crate::product::{Ground, Part, ProductQuery};
use crate::query::{Answer, Effort, Lit};
use crate::question::Question;
use crate::stage::{Rest, Stage};
use crate::truth::Truths;
use expr::{Dag, Label, SupportId, Supports};
use std::collections::BTreeSet;
use std::time::Instant;

/// More bytes than these are not tried together.
const MAX_BYTES: usize = 6;

#[derive(Default)]
pub(crate) struct ProductStage {
    counters: Counters,
}

impl Stage for ProductStage {
    fn name(&self) -> &'static str {
        "product"
    }

    /// Too much where a search has thousands of other questions.
    fn min_effort(&self) -> Effort {
        Effort::Full
    }

    fn applies(&self, question: &mut Question) -> bool {
        question.is_flip()
    }

    fn solve(&mut self, question: &mut Question, rest: Rest) -> Answer {
        let start = Instant::now();
        let Some(answer) = try_all(question) else { return rest.solve(question) };
        let answer = question.checked(answer, &mut self.counters);
        self.counters.count(&answer, start.elapsed());
        if answer.is_known() { answer } else { rest.solve(question) }
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.counters)
    }
}

/// `None` if there are too many values.
fn try_all(question: &mut Question) -> Option<Answer> {
    let (numbers, bytes) = ties(question)?;
    let (goal, prefix) = (question.goal.lit, question.goal.prefix as u32);
    let (solver, truths) = (&mut *question.path, &mut *question.truths);
    let (dag, path, current) = (solver.dag, solver.path, solver.current);
    let (support, supports) = (&solver.support, &mut solver.supports);
    let domains = &mut solver.domains;
    let mut ground = PathGround { dag, path, current, prefix, support, supports, domains, truths };
    if ground.is_out_of_bounds(goal) {
        return Some(Answer::Unsat);
    }
    let query = ProductQuery { path, numbers: &numbers, goal, bytes: &bytes, prefix };
    let found = solver.product.solve(dag, &query, &mut ground)?;
    let input = |values| solver.query(goal).input_with(values, None);
    Some(found.map(input).map_or(Answer::Unsat, Answer::Sat))
}

/// The numbers of the literals that tie the goal's bytes to others, and all of these bytes, the
/// goal's first. `None` if they are many, or the length is tied to them.
fn ties(question: &mut Question) -> Option<(Vec<u32>, Vec<u32>)> {
    let component = question.component();
    let goal = &question.goal.support;
    let mut numbers = Vec::new();
    let mut bytes: BTreeSet<u32> = goal.bytes().collect();
    let mut has_length = goal.uses_len();
    for &number in &component.literals {
        let support = question.path.support_of(number);
        has_length |= support.uses_len();
        if support.single_byte().is_none() {
            numbers.push(number);
        }
        bytes.extend(support.bytes());
        if has_length || bytes.len() > MAX_BYTES {
            return None;
        }
    }
    let mut bytes: Vec<u32> = bytes.into_iter().collect();
    bytes.sort_by_key(|&byte| !goal.contains(byte));
    Some((numbers, bytes))
}

/// What a path says about bytes before one of its literals.
struct PathGround<'g> {
    dag: &'g Dag,
    path: &'g [Lit],
    current: &'g [u8],
    prefix: u32,
    /// Of each literal.
    support: &'g [SupportId],
    supports: &'g mut Supports,
    domains: &'g mut PathDomains,
    truths: &'g mut Truths,
}

impl PathGround<'_> {
    /// Whether the least and greatest values of its parts rule a literal out.
    fn is_out_of_bounds(&mut self, goal: Lit) -> bool {
        let dag = self.dag;
        let mut part = |label: Label| match self.part(label)? {
            Part::Node => None,
            Part::Function { byte, values } => {
                let (domain, bits) = (self.domain(byte).0, dag.bits(label));
                let value = |byte: u8| number(values[usize::from(byte)], bits);
                let values = domain.preferred(None).map(value);
                values.map(Interval::only).reduce(Interval::union)
            }
        };
        Intervals::new(dag, &mut part).refute(goal)
    }
}

impl Ground for PathGround<'_> {
    fn ties(&self, number: u32) -> bool {
        let support = self.supports.get(self.support[number as usize]);
        !support.is_empty() && support.single_byte().is_none()
    }

    fn part(&mut self, label: Label) -> Option<Part> {
        let id = self.supports.of(self.dag, label);
        let Some(byte) = self.supports.get(id).single_byte() else { return Some(Part::Node) };
        let values = self.domains.values(self.truths, self.dag, label)?;
        Some(Part::Function { byte, values })
    }

    fn stage(&mut self, label: Label, bytes: &[u32]) -> u32 {
        let id = self.supports.of(self.dag, label);
        let support = self.supports.get(id);
        bytes.iter().rposition(|&byte| support.contains(byte)).map_or(0, |at| at as u32 + 1)
    }

    fn domain(&mut self, byte: u32) -> (ByteSet, Option<u8>) {
        let domain = self.domains.byte(self.truths, self.dag, self.path, byte, self.prefix);
        (domain, self.current.get(byte as usize).copied())
    }
}
