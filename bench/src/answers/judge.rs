//! Verdicts on answers, by code that shares nothing with the chain but the recorded expressions.

use crate::flips::RecordedPath;
use expr::{Dag, Evaluator, Importer, Label, Node, Op, Support, Supports};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::{Limits, Z3Link};
use solver::{Answer, Link as _, Lit, Query};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// "Sat", and the input meets all literals.
    Meets,
    /// "Sat", and it does not.
    Fails,
    /// "Unsat", and Z3 says so, too.
    Impossible,
    /// "Unsat", and there is an input.
    Refuted,
    /// "Unsat", and Z3 does not know.
    Undecided,
    /// No answer.
    Unknown,
}

/// One question: the literals before a goal that share variables with it, directly or not.
pub struct Question {
    pub max_len: usize,
    goal: Lit,
    prefix: usize,
    /// The literals of the prefix that hang together with the goal, and those on the length.
    literals: Vec<Lit>,
    /// Those of them that have no other variables than the goal. Where these have no solution, all
    /// have none, and Z3 finds that out much faster.
    near: Vec<Lit>,
    supports: Supports,
    parts: Parts,
    /// `k < length`, for each k.
    longer: Vec<Label>,
    /// One more than the last byte that the prefix uses.
    needed: usize,
}

impl Question {
    pub fn new(recorded: &mut RecordedPath, room: usize) -> Question {
        let max_len = recorded.input.len() + room;
        let dag = &mut recorded.dag;
        let length = dag.input_length();
        let longer = |k: usize| {
            let k = dag.constant(64, k as u128);
            dag.add(Node::binary(Op::Ult, 1, k, length))
        };
        let longer = (0..max_len).map(longer).collect();
        let goal = Lit::new(0, true);
        let (supports, parts) = (Supports::new(), Parts::default());
        let (literals, near) = (Vec::new(), Vec::new());
        Question { max_len, goal, prefix: 0, literals, near, supports, parts, longer, needed: 0 }
    }

    /// Prefixes must not shrink from one question to the next.
    pub fn ask(&mut self, recorded: &RecordedPath, prefix: usize, goal: Lit) {
        for number in self.prefix..prefix {
            let id = self.supports.of(&recorded.dag, recorded.lits[number].label);
            let support = self.supports.get(id);
            self.needed = self.needed.max(used(support));
            self.parts.add(number as u32, support);
        }
        (self.prefix, self.goal) = (prefix, goal);
        let id = self.supports.of(&recorded.dag, goal.label);
        let support = self.supports.get(id);
        let needed = self.needed.max(used(support));
        let numbers = self.parts.joined(support);
        let known: FxHashSet<u32> = variables(support).collect();
        self.literals = numbers.into_iter().map(|number| recorded.lits[number as usize]).collect();
        self.near = self.literals.clone();
        self.near.retain(|lit| {
            let id = self.supports.of(&recorded.dag, lit.label);
            variables(self.supports.get(id)).all(|variable| known.contains(&variable))
        });
        // A byte that was used is there.
        if let Some(last) = needed.checked_sub(1) {
            self.literals.push(Lit::new(self.longer[last], true));
        }
    }
}

fn used(support: &Support) -> usize {
    support.last_byte().map_or(0, |byte| byte as usize + 1)
}

/// Variables that literals tie together, and the literals of each group.
#[derive(Default)]
struct Parts {
    /// The group of each variable; the length is [`LENGTH`].
    group: FxHashMap<u32, u32>,
    groups: Vec<Group>,
    /// Literals without variables.
    constant: Vec<u32>,
}

#[derive(Default)]
struct Group {
    variables: Vec<u32>,
    literals: Vec<u32>,
}

const LENGTH: u32 = u32::MAX;

fn variables(support: &Support) -> impl Iterator<Item = u32> + '_ {
    support.bytes().chain(support.uses_len().then_some(LENGTH))
}

impl Parts {
    fn add(&mut self, number: u32, support: &Support) {
        let mut into = None;
        for variable in variables(support) {
            let group = self.group_of(variable);
            into = Some(into.map_or(group, |into| self.merge(into, group)));
        }
        match into {
            Some(group) => self.groups[group as usize].literals.push(number),
            None => self.constant.push(number),
        }
    }

    fn group_of(&mut self, variable: u32) -> u32 {
        let next = self.groups.len() as u32;
        let group = *self.group.entry(variable).or_insert(next);
        if group == next {
            self.groups.push(Group { variables: vec![variable], literals: Vec::new() });
        }
        group
    }

    /// The smaller one moves into the larger.
    fn merge(&mut self, a: u32, b: u32) -> u32 {
        if a == b {
            return a;
        }
        let size = |group: u32| self.groups[group as usize].variables.len();
        let (from, into) = if size(a) < size(b) { (a, b) } else { (b, a) };
        let moved = std::mem::take(&mut self.groups[from as usize]);
        for variable in &moved.variables {
            self.group.insert(*variable, into);
        }
        let target = &mut self.groups[into as usize];
        target.variables.extend(moved.variables);
        target.literals.extend(moved.literals);
        into
    }

    /// Literals that hang together with a goal, in order. What the length has to be counts always.
    fn joined(&self, goal: &Support) -> Vec<u32> {
        let mut groups: Vec<u32> =
            variables(goal).chain([LENGTH]).filter_map(|v| self.group.get(&v).copied()).collect();
        groups.sort_unstable();
        groups.dedup();
        let literals = groups.iter().flat_map(|group| &self.groups[*group as usize].literals);
        let mut literals: Vec<u32> = literals.chain(&self.constant).copied().collect();
        literals.sort_unstable();
        literals
    }
}

/// Gives verdicts; remembers which questions Z3 was asked.
pub struct Judge {
    z3: Z3Link,
    known: FxHashMap<u64, Verdict>,
    evaluator: Evaluator,
}

impl Judge {
    pub fn new(patience: Duration) -> Judge {
        let z3 = Z3Link::new(Limits { time: patience, steps: 0, economical: false, stop: None });
        Judge { z3, known: FxHashMap::default(), evaluator: Evaluator::new() }
    }

    pub fn verdict(
        &mut self,
        recorded: &RecordedPath,
        question: &Question,
        answer: &Answer,
    ) -> Verdict {
        match answer {
            Answer::Sat(input) if self.meets(recorded, question, input) => Verdict::Meets,
            Answer::Sat(_) => Verdict::Fails,
            Answer::Unsat => self.impossible(recorded, question),
            Answer::Unknown(_) => Verdict::Unknown,
        }
    }

    fn meets(&mut self, recorded: &RecordedPath, question: &Question, input: &[u8]) -> bool {
        let mut evaluation = self.evaluator.under(&recorded.dag, input);
        let mut holds = |lit: &Lit| evaluation.holds(lit.label) == lit.value;
        input.len() <= question.max_len
            && recorded.lits[..question.prefix].iter().all(&mut holds)
            && holds(&question.goal)
    }

    fn impossible(&mut self, recorded: &RecordedPath, question: &Question) -> Verdict {
        match self.ask_z3(recorded, question, &question.near) {
            Verdict::Impossible => Verdict::Impossible,
            _ => self.ask_z3(recorded, question, &question.literals),
        }
    }

    fn ask_z3(
        &mut self,
        recorded: &RecordedPath,
        question: &Question,
        literals: &[Lit],
    ) -> Verdict {
        let lowered = Lowered::new(&recorded.dag, question.goal, literals);
        let (dag, path, goal) = match &lowered {
            Some(Lowered { dag, path, goal }) => (dag, &path[..], *goal),
            None => (&recorded.dag, literals, question.goal),
        };
        let query = Query::new(dag, path, goal, &recorded.input, question.max_len);
        let key = digest(&query);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let verdict = match self.z3.solve(&query) {
            Answer::Unsat => Verdict::Impossible,
            // Z3's model counts only if it is one.
            Answer::Sat(input) if holds_all(&query, &input) => Verdict::Refuted,
            _ => Verdict::Undecided,
        };
        self.known.insert(key, verdict);
        verdict
    }
}

fn holds_all(query: &Query, input: &[u8]) -> bool {
    let mut evaluator = Evaluator::new();
    let mut evaluation = evaluator.under(query.dag, input);
    query.literals().all(|lit| evaluation.holds(lit.label) == lit.value)
}

fn digest(query: &Query) -> u64 {
    let labels: Vec<Label> = query.literals().map(|lit| lit.label).collect();
    let values: Vec<bool> = query.literals().map(|lit| lit.value).collect();
    let mut hasher = DefaultHasher::new();
    (expr::print(query.dag, &labels), values, query.max_len).hash(&mut hasher);
    hasher.finish()
}

/// Z3 knows no operations on texts, so they become formulas over bytes.
struct Lowered {
    dag: Dag,
    path: Vec<Lit>,
    goal: Lit,
}

impl Lowered {
    fn new(from: &Dag, goal: Lit, literals: &[Lit]) -> Option<Lowered> {
        let has_texts = (1..from.len() as Label).any(|l| from.op(l).is_text());
        if !has_texts {
            return None;
        }
        let (mut dag, mut importer) = (Dag::new(), Importer::lowering());
        let mut import =
            |lit: Lit| Lit { label: importer.import(from, lit.label, &mut dag), ..lit };
        let path = literals.iter().copied().map(&mut import).collect();
        let goal = import(goal);
        Some(Lowered { dag, path, goal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path over two bytes: the first is below 9, and equal to the second.
    fn recorded() -> RecordedPath {
        let mut dag = Dag::new();
        let (a, b, nine) = (dag.input(0), dag.input(1), dag.constant(8, 9));
        let small = dag.add(Node::binary(Op::Ult, 1, a, nine));
        let equal = dag.add(Node::binary(Op::Eq, 1, a, b));
        let large = dag.add(Node::binary(Op::Ult, 1, nine, b));
        let lits = vec![Lit::new(small, true), Lit::new(equal, true)];
        RecordedPath { dag, lits, input: vec![1, 1], flips: vec![(2, Lit::new(large, true))] }
    }

    fn verdict(prefix: usize, answer: &Answer) -> Verdict {
        let mut recorded = recorded();
        let mut question = Question::new(&mut recorded, 1);
        let goal = recorded.flips[0].1;
        question.ask(&recorded, prefix, goal);
        Judge::new(Duration::from_secs(10)).verdict(&recorded, &question, answer)
    }

    #[test]
    fn right_answers_pass() {
        assert_eq!(verdict(2, &Answer::Unsat), Verdict::Impossible);
        assert_eq!(verdict(1, &Answer::Sat(vec![1, 10])), Verdict::Meets);
    }

    #[test]
    fn wrong_answers_are_seen() {
        assert_eq!(verdict(1, &Answer::Unsat), Verdict::Refuted);
        assert_eq!(verdict(2, &Answer::Sat(vec![1, 10])), Verdict::Fails);
        assert_eq!(verdict(1, &Answer::Sat(vec![1; 20])), Verdict::Fails, "too long");
    }
}
