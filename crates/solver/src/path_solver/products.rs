//! Goals whose bytes have few values left.

use super::{Goal, PathSolver, meets};
use crate::byte_set::ByteSet;
use crate::chain::Chain;
use crate::intervals::{Interval, Intervals, number};
use crate::path_domains::PathDomains;
use crate::product::{Ask, Ground, Part};
use crate::query::{Answer, Effort, Lit, UnknownReason};
use crate::truth::Truths;
use expr::{Dag, Label, SupportId, Supports};
use std::collections::BTreeSet;
use std::time::Instant;

/// More bytes than these are not tried together.
const MOST_BYTES: usize = 6;

impl PathSolver<'_> {
    /// Tries all values that are left for the bytes that hang together with the goal, if they are few.
    pub(super) fn solve_product(&mut self, chain: &mut Chain, goal: &Goal) -> Option<Answer> {
        // Too much where a search has thousands of other questions.
        let is_asked = chain.product.enabled && chain.effort == Effort::Full;
        if !is_asked || !goal.extra.is_empty() || self.checker.violated_before(goal.prefix) {
            return None;
        }
        let start = Instant::now();
        let (numbers, bytes) = self.ties(goal)?;
        let (dag, path, current) = (self.dag, self.path, self.current);
        let Self { supports, support, domains, product, .. } = self;
        let (truths, prefix) = (&mut chain.truths, goal.prefix as u32);
        let mut ground = PathGround { dag, path, current, prefix, support, supports, domains, truths };
        let found = match ground.is_out_of_bounds(goal.goal) {
            true => None,
            false => {
                let ask = Ask { path, numbers: &numbers, goal: goal.goal, bytes: &bytes, prefix };
                product.solve(dag, &ask, &mut ground)?
            }
        };
        let answer = match found {
            None => Answer::Unsat,
            Some(values) => {
                let input = self.query(goal.goal).input_with(values, None);
                let good = meets(&mut self.checker, goal)(&input);
                chain.product.counters.wrong += u64::from(!good);
                if good { Answer::Sat(input) } else { Answer::Unknown(UnknownReason::WrongModel) }
            }
        };
        chain.product.counters.count(&answer, start.elapsed());
        (!matches!(answer, Answer::Unknown(_))).then_some(answer)
    }

    /// The numbers of the literals that tie the goal's bytes to others, and all of these bytes, the goal's first. `None` if they
    /// are many, or the length is tied to them.
    fn ties(&self, goal: &Goal) -> Option<(Vec<u32>, Vec<u32>)> {
        let mut numbers = Vec::new();
        let mut bytes: BTreeSet<u32> = goal.support.bytes().collect();
        let mut has_length = goal.support.uses_len();
        for &number in &goal.literals {
            let support = self.supports.get(self.support[number as usize]);
            has_length |= support.uses_len();
            if support.single_byte().is_none() {
                numbers.push(number);
            }
            bytes.extend(support.bytes());
            if has_length || bytes.len() > MOST_BYTES {
                return None;
            }
        }
        let mut bytes: Vec<u32> = bytes.into_iter().collect();
        bytes.sort_by_key(|&byte| !goal.support.contains(byte));
        Some((numbers, bytes))
    }
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
                let values = domain.preferred(None).map(|value| number(values[usize::from(value)], bits));
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
