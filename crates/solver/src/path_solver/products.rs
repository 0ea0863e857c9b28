//! Goals whose bytes have few values left.

use super::{Goal, PathSolver, meets};
use crate::chain::Chain;
use crate::product::Choice;
use crate::query::{Answer, Effort, Lit, UnknownReason};
use expr::Support;
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
        let (lits, bytes) = self.ties(goal)?;
        self.look_at(chain, &lits, &bytes)?;
        let choices: Vec<Choice> =
            (1..).zip(&bytes).map(|(stage, &byte)| self.choice(chain, goal, stage, byte)).collect();
        let answer = match self.product.solve(self.dag, &lits, &choices)? {
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

    /// The goal and the literals that tie its bytes to others, and all of these bytes, the goal's first: most goals fail by
    /// themselves. `None` if they are many, or the length is tied to them.
    fn ties(&self, goal: &Goal) -> Option<(Vec<Lit>, Vec<u32>)> {
        let mut lits = vec![goal.goal];
        let mut bytes: BTreeSet<u32> = goal.support.bytes().collect();
        let mut has_length = goal.support.uses_len();
        for &number in &goal.literals {
            let support = self.supports.get(self.support[number as usize]);
            has_length |= support.uses_len();
            if support.single_byte().is_none() {
                lits.push(self.path[number as usize]);
            }
            bytes.extend(support.bytes());
            if has_length || bytes.len() > MOST_BYTES {
                return None;
            }
        }
        let mut bytes: Vec<u32> = bytes.into_iter().collect();
        bytes.sort_by_key(|&byte| !goal.support.contains(byte));
        Some((lits, bytes))
    }

    /// Tells the product what the literals are made of, down to the largest parts that depend on one byte.
    fn look_at(&mut self, chain: &mut Chain, lits: &[Lit], bytes: &[u32]) -> Option<()> {
        let Self { dag, supports, domains, product, .. } = self;
        let stage_of = |support: &Support| {
            bytes.iter().rposition(|&byte| support.contains(byte)).map_or(0, |at| at as u32 + 1)
        };
        product.start(dag, bytes.len());
        for lit in lits {
            product.reach(lit.label);
        }
        while let Some(label) = product.next() {
            let id = supports.of(dag, label);
            let support = supports.get(id);
            let stage = stage_of(support);
            if support.single_byte().is_some() {
                let values = domains.values(&mut chain.truths, dag, label)?;
                product.add_function(label, stage, values);
            } else {
                product.add_node(dag, label, stage);
            }
        }
        Some(())
    }

    fn choice(&mut self, chain: &mut Chain, goal: &Goal, stage: u32, byte: u32) -> Choice {
        let current = self.current.get(byte as usize).copied();
        let prefix = goal.prefix as u32;
        let domain = self.domains.byte(&mut chain.truths, self.dag, self.path, byte, prefix);
        self.product.choice(stage, byte, domain, current)
    }
}
