//! All questions about one path: what they have in common is computed once.

use crate::chain::Chain;
use crate::checker::Checker;
use crate::components::{Components, Slot};
use crate::oversize::Oversize;
use crate::path_domains::PathDomains;
use crate::product::Product;
use crate::query::{Answer, Lit, Query};
use crate::question::{Component, Goal};
use crate::ranges::Ranges;
use crate::texts::Restrictions;
use std::ops::Range;

use expr::{Dag, Evaluator, Support, SupportId, Supports};

/// A path condition of one run, prepared for many queries.
pub struct PathSolver<'a> {
    pub(crate) dag: &'a Dag,
    pub(crate) path: &'a [Lit],
    pub(crate) current: &'a [u8],
    pub(crate) max_len: usize,
    pub(crate) filler: u8,
    /// Bytes that are numbers: near ones are better than those that read well.
    numbers: Vec<Range<usize>>,
    pub(crate) supports: Supports,
    /// The support of each literal of the path.
    pub(crate) support: Vec<SupportId>,
    /// One more than the largest byte that the first n literals use, for each n.
    pub(crate) needed_len: Vec<u64>,
    pub(crate) components: Components,
    pub(crate) oversize: Oversize,
    pub(crate) domains: PathDomains,
    pub(crate) ranges: Ranges,
    pub(crate) product: Product,
    pub(crate) checker: Checker<'a>,
    /// Values on the current input, once they are asked for.
    pub(crate) values: Option<Evaluator>,
}

/// Numbers near to one, those to try first first. Every other question lets a length grow by more
/// than one: each byte that follows can be the end afterwards, but long ways hide short ones.
fn near(now: u8, question: usize) -> impl Iterator<Item = u8> {
    let far = now.checked_add(16).filter(|_| question % 2 == 1);
    let one_by_one = (1..=8).flat_map(move |by| [now.checked_add(by), now.checked_sub(by)]);
    far.into_iter().chain(one_by_one.flatten())
}

impl<'a> PathSolver<'a> {
    /// Literals of `path` that do not hold on `current` are allowed, but make answers slower.
    pub fn new(dag: &'a Dag, path: &'a [Lit], current: &'a [u8], max_len: usize) -> PathSolver<'a> {
        let mut solver = PathSolver {
            dag,
            path,
            current,
            max_len: max_len.max(current.len()),
            filler: Query::DEFAULT_FILLER,
            numbers: Vec::new(),
            supports: Supports::new(),
            support: Vec::with_capacity(path.len()),
            needed_len: vec![0],
            components: Components::default(),
            oversize: Oversize::default(),
            domains: PathDomains::default(),
            ranges: Ranges::default(),
            product: Product::default(),
            checker: Checker::new(dag, path, current, max_len.max(current.len())),
            values: None,
        };
        for (number, lit) in path.iter().enumerate() {
            solver.prepare(number as u32, *lit);
        }
        solver
    }

    fn prepare(&mut self, number: u32, lit: Lit) {
        let id = self.supports.of(self.dag, lit.label);
        let support = self.supports.get(id);
        let needed = support.last_byte().map_or(0, |byte| u64::from(byte) + 1);
        self.needed_len.push(needed.max(self.needed_len[number as usize]));
        self.checker.add(number, support);
        // What holds on every input ties no bytes together.
        let ties = support.single_byte().is_some() || !self.ranges.implies(self.dag, lit);
        let id = if ties { id } else { SupportId::EMPTY };
        let support = self.supports.get(id);
        self.support.push(id);
        self.components.add(number, support);
        self.domains.add(number, support);
    }

    /// What new bytes are when the input grows.
    pub fn set_filler(&mut self, filler: u8) {
        self.filler = filler;
    }

    /// Bytes of the input that are numbers, such as lengths. Where they change, answers leave them as
    /// near to what they are as a few attempts allow.
    pub fn set_numbers(&mut self, numbers: Vec<Range<usize>>) {
        self.numbers = numbers;
    }

    /// Literals of the path that do not hold on the current input: the trace is wrong about them.
    pub fn violated(&self) -> &[u32] {
        self.checker.violated()
    }

    /// An input that follows the path up to literal `index` and there makes it false.
    pub fn flip(&mut self, chain: &mut Chain, index: usize) -> Answer {
        self.solve(chain, index, &[], self.path[index].negated())
    }

    /// An input on which the first `prefix` literals of the path, all of `extra` and the `goal`
    /// hold.
    pub fn solve(&mut self, chain: &mut Chain, prefix: usize, extra: &[Lit], goal: Lit) -> Answer {
        let goal = self.goal(prefix, extra, goal);
        match chain.answer(self, &goal, None) {
            Answer::Sat(input) => Answer::Sat(self.with_near_numbers(&goal, input)),
            other => other,
        }
    }

    fn with_near_numbers(&mut self, goal: &Goal, mut input: Vec<u8>) -> Vec<u8> {
        let places: Vec<usize> = self.numbers.iter().cloned().flatten().collect();
        for place in places {
            let (Some(&found), Some(&now)) = (input.get(place), self.current.get(place)) else {
                break;
            };
            let nearer =
                near(now, goal.prefix).filter(|value| value.abs_diff(now) < found.abs_diff(now));
            for value in nearer {
                input[place] = value;
                if self.checker.check(&input, goal.prefix, goal.extra, goal.lit) {
                    break;
                }
                input[place] = found;
            }
        }
        input
    }

    /// As [`PathSolver::solve`], with parts of the answer in languages. "Unsat" means that no input
    /// at all will do; otherwise what is not found is unknown.
    pub fn solve_within(
        &mut self,
        chain: &mut Chain,
        prefix: usize,
        goal: Lit,
        restrictions: &mut Restrictions,
    ) -> Answer {
        let goal = self.goal(prefix, &[], goal);
        chain.answer(self, &goal, Some(restrictions.reborrow()))
    }

    /// A literal to be made true after a prefix of the path.
    pub(crate) fn goal<'g>(&mut self, prefix: usize, extra: &'g [Lit], lit: Lit) -> Goal<'g> {
        let id = self.supports.of(self.dag, lit.label);
        Goal { prefix, extra, lit, support: self.supports.get(id).clone() }
    }

    /// Whether a literal holds on an input.
    pub fn is_true(&mut self, lit: Lit, input: &[u8]) -> bool {
        self.checker.check(input, 0, &[], lit)
    }

    /// The numbers of the literals of the path that do not hold on an input, in order.
    pub fn departures<'s>(
        &'s mut self,
        input: &'s [u8],
    ) -> impl Iterator<Item = usize> + use<'s, 'a> {
        self.checker.departures(input)
    }

    /// The last byte that the literal depends on.
    pub fn last_byte(&mut self, lit: Lit) -> Option<usize> {
        let id = self.supports.of(self.dag, lit.label);
        self.supports.get(id).last_byte().map(|byte| byte as usize)
    }

    /// The support of literal `number`, empty if that holds on every input.
    pub(crate) fn support_of(&self, number: u32) -> &Support {
        self.supports.get(self.support[number as usize])
    }

    /// A query without a path, about the run's whole graph.
    pub(crate) fn query(&self, goal: Lit) -> Query<'a> {
        Query { filler: self.filler, ..Query::new(self.dag, &[], goal, self.current, self.max_len) }
    }

    /// Any use of byte i implies that the input is longer than i.
    pub(crate) fn needed_len(&self, goal: &Goal) -> u64 {
        let own = goal.support.last_byte().map_or(0, |byte| u64::from(byte) + 1);
        own.max(self.needed_len[goal.prefix])
    }

    /// Finds the literals that share variables with the goal, directly or through others.
    pub(crate) fn component(&mut self, goal: &Goal) -> Component {
        let (start, prefix) = (self.support_to_meet(goal), goal.prefix as u32);
        let start = self.supports.get(start);
        let mut roots: Vec<Slot> =
            start.bytes().map(|byte| self.components.root(Slot::byte(byte), prefix)).collect();
        roots.extend(start.uses_len().then(|| self.components.root(Slot::LENGTH, prefix)));
        roots.sort_unstable();
        roots.dedup();
        let mut literals = Vec::new();
        for root in &roots {
            self.components.collect(*root, prefix, &mut literals);
        }
        // Violated literals without variables are in no component.
        literals.extend(self.checker.violated().iter().filter(|&&number| number < prefix));
        literals.sort_unstable();
        literals.dedup();
        Component { roots, literals }
    }

    /// The support of the goal, and of extra and violated literals: they must be made true in any
    /// case, so they count as parts of the goal.
    fn support_to_meet(&mut self, goal: &Goal) -> SupportId {
        let mut all = self.supports.of(self.dag, goal.lit.label);
        let violated = self.checker.violated().iter().map(|&number| number as usize);
        let violated = violated.filter(|&number| number < goal.prefix);
        let violated = violated.map(|number| self.path[number]);
        for lit in goal.extra.iter().copied().chain(violated) {
            let id = self.supports.of(self.dag, lit.label);
            all = self.supports.union(all, id);
        }
        all
    }
}
