//! The exact byte-domain solver.
//!
//! Conditions on one byte are sets of byte values. For conditions on several bytes, the bytes are
//! given values in input order; what later bytes need to know about earlier ones is the *frontier*:
//! the values of those nodes over earlier bytes that nodes over later bytes use. Two prefixes with
//! the same frontier have the same continuations, so a frontier that failed once need not be tried
//! again. In a scanner's chain of table reads the frontier is one state number, in number parsing
//! the value so far. Where a condition is one on a weighted sum, the [`Outlook`] tells which
//! prefixes cannot reach it any more.
//!
//! Both answers are exact; a search that gets too large is given up as unknown.

use crate::byte_set::ByteSet;
use crate::length_set::LengthSet;
use crate::levels::{Levels, Variable};
use crate::outlook::Outlook;
use crate::query::{Answer, Effort, Link, Lit, Query, UnknownReason};
use crate::truth::{ShapeMap, Truths};
use expr::{Dag, Registers, Support, Supports};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// See the module.
pub struct DomainLink {
    truths: Truths,
    /// How many instructions a search may take.
    budget: u64,
}

impl DomainLink {
    pub const NAME: &'static str = "domain";
    pub const DEFAULT_BUDGET: u64 = 2_000_000;

    pub fn new(budget: u64) -> DomainLink {
        DomainLink { truths: Truths::default(), budget }
    }
}

impl Link for DomainLink {
    fn name(&self) -> &'static str {
        DomainLink::NAME
    }

    fn min_effort(&self) -> Effort {
        Effort::Quick
    }

    fn solve(&mut self, query: &Query) -> Answer {
        let Some(problem) = Problem::new(&mut self.truths, query) else { return Answer::Unsat };
        match problem.levels(query.dag) {
            Some(levels) => {
                let budget = if query.effort == Effort::Quick {
                    self.budget / QUICK_SHARE
                } else {
                    self.budget
                };
                Search::new(query, &problem, &levels, budget).run()
            }
            None => Answer::Unknown(UnknownReason::Unsupported),
        }
    }
}

/// Domains of the variables, and the literals that are not accounted for by them.
pub(crate) struct Problem {
    pub bytes: Vec<(u32, ByteSet)>,
    pub length: Option<LengthSet>,
    pub joint: Vec<Lit>,
}

impl Problem {
    /// `None` if a domain is empty, or a literal false.
    pub(crate) fn new(truths: &mut Truths, query: &Query) -> Option<Problem> {
        let mut map = ShapeMap::default();
        let mut supports = Supports::new();
        let mut bytes: FxHashMap<u32, ByteSet> = FxHashMap::default();
        let mut length: Option<LengthSet> = None;
        let mut joint = Vec::new();
        let largest = query.max_len as u64;
        for lit in query.literals() {
            match query.dag.as_constant(lit.label) {
                Some(value) if (value == 1) == lit.value => continue,
                Some(_) => return None,
                None => {}
            }
            let id = supports.of(query.dag, lit.label);
            let support = supports.get(id);
            for byte in support.bytes() {
                bytes.entry(byte).or_insert(ByteSet::ALL);
            }
            if support.uses_len() && length.is_none() {
                length = Some(LengthSet::up_to(largest));
            }
            if let Some(byte) = support.single_byte() {
                let set = truths.of_byte(&mut map, query.dag, lit.label);
                let set = if lit.value { set } else { set.complement() };
                bytes.entry(byte).and_modify(|domain| *domain = domain.intersection(set));
            } else if *support == Support::length() {
                let set = truths.of_length(&mut map, query.dag, lit.label, largest);
                let set = if lit.value { set } else { set.complement(largest) };
                length = length.map(|domain| domain.intersection(&set));
            } else {
                joint.push(lit);
            }
        }
        let mut bytes: Vec<(u32, ByteSet)> = bytes.into_iter().collect();
        bytes.sort_unstable_by_key(|&(byte, _)| byte);
        let empty = bytes.iter().any(|(_, domain)| domain.is_empty());
        let empty = empty || length.as_ref().is_some_and(LengthSet::is_empty);
        (!empty).then_some(Problem { bytes, length, joint })
    }

    /// Whether one of the bytes is among these.
    pub(crate) fn concerns(&self, range: &Range<u32>) -> bool {
        let first = self.bytes.partition_point(|&(byte, _)| byte < range.start);
        self.bytes.get(first).is_some_and(|&(byte, _)| byte < range.end)
    }

    /// The preferred value of each byte, whatever the joint literals say.
    pub(crate) fn preferred<'p>(
        &'p self,
        query: &'p Query,
    ) -> impl Iterator<Item = (u32, u8)> + 'p {
        self.bytes.iter().filter_map(|&(byte, domain)| {
            let value = domain.preferred(query.current.get(byte as usize).copied()).next()?;
            Some((byte, value))
        })
    }

    /// The joint literals by the variable that decides them; the length comes last.
    fn levels<'d>(&self, dag: &'d Dag) -> Option<Levels<'d>> {
        let mut variables: Vec<Variable> =
            self.bytes.iter().map(|&(byte, _)| Variable::Byte(byte)).collect();
        variables.extend(self.length.is_some().then_some(Variable::Length));
        Levels::new(dag, variables, &self.joint)
    }
}

/// What part of the budget a quick search has.
const QUICK_SHARE: u64 = 32;

/// Lengths beyond this number are not tried.
const MAX_LENGTHS: usize = 4096;

struct Search<'s> {
    query: &'s Query<'s>,
    levels: &'s Levels<'s>,
    outlook: Outlook,
    /// The values to try, by level, in order of preference.
    candidates: Vec<Vec<u64>>,
    /// Frontiers that have no continuation, by level.
    dead: Vec<FxHashSet<Box<[u128]>>>,
    frames: Vec<Frame>,
    registers: Registers,
    budget: u64,
}

/// One variable being given a value.
struct Frame {
    /// Values that the level's program starts from.
    frontier: Box<[u128]>,
    /// The outlook's sums.
    sums: Box<[i128]>,
    next_candidate: usize,
}

impl<'s> Search<'s> {
    fn new(
        query: &'s Query<'s>,
        problem: &'s Problem,
        levels: &'s Levels<'s>,
        budget: u64,
    ) -> Search<'s> {
        let current = |byte: u32| query.current.get(byte as usize).copied();
        let mut candidates: Vec<Vec<u64>> = problem
            .bytes
            .iter()
            .map(|&(byte, domain)| domain.preferred(current(byte)).map(u64::from).collect())
            .collect();
        let lengths = |set: &LengthSet| {
            set.preferred(query.current.len() as u64).take(MAX_LENGTHS + 1).collect()
        };
        candidates.extend(problem.length.as_ref().map(lengths));
        for (values, program) in candidates.iter_mut().zip(&levels.programs) {
            if !program.uses_variable() {
                values.truncate(1);
            }
        }
        let dead = vec![FxHashSet::default(); candidates.len() + 1];
        Search {
            query,
            levels,
            outlook: Outlook::new(query.dag, &problem.joint, &levels.variables, &problem.bytes),
            candidates,
            dead,
            frames: Vec::new(),
            registers: Registers::default(),
            budget,
        }
    }

    /// Depth first.
    fn run(mut self) -> Answer {
        self.frames.push(Frame {
            frontier: Box::default(),
            sums: self.outlook.start(),
            next_candidate: 0,
        });
        loop {
            let level = self.frames.len() - 1;
            if level == self.candidates.len() {
                return self.input();
            }
            match self.advance(level) {
                Step::Forward(frame) => self.frames.push(frame),
                Step::Back => {
                    if let Some(frame) = self.frames.pop() {
                        self.dead[level].insert(frame.frontier);
                    }
                    if self.frames.is_empty() {
                        return Answer::Unsat;
                    }
                }
                Step::GiveUp => return Answer::Unknown(UnknownReason::Budget),
            }
        }
    }

    /// Tries the next values at `level` until one leads to a frontier that is not known to fail.
    fn advance(&mut self, level: usize) -> Step {
        let program = &self.levels.programs[level];
        program.load(&mut self.registers, &self.frames[level].frontier);
        while let Some(&value) = self.candidates[level].get(self.frames[level].next_candidate) {
            self.frames[level].next_candidate += 1;
            if self.frames[level].next_candidate > MAX_LENGTHS {
                return Step::GiveUp;
            }
            let cost = 4 + program.cost() + self.outlook.cost();
            if cost > self.budget {
                return Step::GiveUp;
            }
            self.budget -= cost;
            if !program.run(&mut self.registers, value) {
                continue;
            }
            let Some(sums) = self.outlook.choose(level, value, &self.frames[level].sums) else {
                continue;
            };
            let frontier = program.frontier(&self.registers, &self.frames[level].frontier);
            if !self.dead[level + 1].contains(&frontier) {
                return Step::Forward(Frame { frontier, sums, next_candidate: 0 });
            }
        }
        Step::Back
    }

    fn input(&self) -> Answer {
        let (mut bytes, mut len) = (Vec::new(), None);
        for (level, &variable) in self.levels.variables.iter().enumerate() {
            let value = self.candidates[level][self.frames[level].next_candidate - 1];
            match variable {
                Variable::Byte(byte) => bytes.push((byte, value as u8)),
                Variable::Length => len = Some(value as usize),
            }
        }
        Answer::Sat(self.query.input_with(bytes, len))
    }
}

enum Step {
    Forward(Frame),
    Back,
    GiveUp,
}
