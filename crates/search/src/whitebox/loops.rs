//! Loops whose number of rounds the input decides: `for (i = 0; i < n; i++)`.
//!
//! Each round is a condition of its own, and to flip one makes a run that is a few rounds shorter
//! or longer. A loop of ten thousand rounds is not reached that way. So where a site asks about the
//! same value again and again, with a constant that advances evenly, the number of rounds is taken
//! for a variable of its own: the solver is asked for inputs that leave the loop at numbers at
//! which programs change, first of all those that a branch compares with of which one side was
//! never taken. What the loop does in a round is not part of the question, so an answer is only a
//! guess.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use expr::{Dag, Node, Op};
use path::ConstraintKind;
use rustc_hash::{FxHashMap, FxHashSet};
use sites::SiteKind;
use solver::{Answer, Chain, Effort, Lit, PathSolver};
use trace::Label;

use super::{Expected, Whitebox, hash_of};
use crate::{Context, Next, Origin, Proposal, TracedPath};

/// Rounds from which on conditions are a loop.
const FEW_ROUNDS: u64 = 6;
/// Runs from which a loop is generalised.
const MAX_RUNS: u8 = 4;
/// Loops that wait, and numbers of rounds that are tried of one.
const MAX_WAITING: usize = 64;
const MAX_NUMBERS: usize = 256;
/// Turns of others before each of a loop.
const BEFORE: u32 = 3;

#[derive(Default)]
pub(super) struct Loops {
    /// How many runs of each site were generalised.
    known: FxHashMap<u32, u8>,
    waiting: VecDeque<Loop>,
    others: u32,
}

/// A loop of one run, and the numbers to leave it at.
struct Loop {
    site: u32,
    input: Vec<u8>,
    dag: Dag,
    /// What comes before the loop.
    prefix: Vec<Lit>,
    condition: Condition,
    step: u64,
    /// What the condition is while the loop goes on.
    goes_on: bool,
    numbers: VecDeque<u64>,
}

/// A comparison of a value with a constant that advances.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Condition {
    op: Op,
    value: Label,
    /// The constant is the first operand.
    is_first: bool,
}

/// The rounds of a loop so far.
struct Rounds {
    /// Where the first one is among the constraints.
    index: usize,
    first: u64,
    last: u64,
    step: Option<u64>,
    count: u64,
    /// What the condition is while the loop goes on.
    goes_on: bool,
}

/// Where a loop is, what it asks, and its rounds.
type Found = (u32, Condition, Rounds);

impl Rounds {
    /// Counts a round if the constant advanced as before.
    fn advance(&mut self, number: u64) {
        let step = number.wrapping_sub(self.last);
        if *self.step.get_or_insert(step) == step {
            (self.last, self.count) = (number, self.count + 1);
        }
    }
}

impl Loops {
    pub(super) fn are_due(&self) -> bool {
        self.others >= BEFORE
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.iter().map(|found| found.numbers.len()).sum()
    }

    /// That many rounds took too long.
    pub(super) fn took_too_long(&mut self, site: u32, number: u64) {
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.site == site) {
            waiting.numbers.retain(|other| *other < number);
        }
    }
}

/// The comparison that a constraint is, and its constant.
fn condition(dag: &Dag, label: Label) -> Option<(Condition, u64)> {
    let op = dag.op(label);
    if !matches!(op, Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle) {
        return None;
    }
    let Node { a, b, .. } = *dag.node(label);
    let (value, number, is_first) = match (dag.as_constant(a), dag.as_constant(b)) {
        (Some(number), None) => (b, number, true),
        (None, Some(number)) => (a, number, false),
        _ => return None,
    };
    // What one byte can say is soon gone through, and long inputs are made otherwise.
    let is_long = dag.bits(value) > 8 && depends_on_bytes(dag, value);
    is_long.then_some(())?;
    Some((Condition { op, value, is_first }, u64::try_from(number).ok()?))
}

/// Whether an expression depends on the input's bytes, not on its length alone, as far as a few
/// steps tell.
fn depends_on_bytes(dag: &Dag, label: Label) -> bool {
    const MAX_STEPS: usize = 32;
    let mut open = vec![label];
    for _ in 0..MAX_STEPS {
        let Some(label) = open.pop() else { return false };
        if matches!(dag.op(label), Op::Input | Op::Read) {
            return true;
        }
        open.extend(dag.operands(label).into_iter().filter(|operand| *operand != 0));
    }
    false
}

/// The loops of a path, in the order in which they begin.
fn rounds(path: &TracedPath) -> Vec<Found> {
    let mut found: FxHashMap<(u32, Condition), Rounds> = FxHashMap::default();
    for (index, constraint) in path.condition.constraints.iter().enumerate() {
        if constraint.kind != ConstraintKind::Branch {
            continue;
        }
        let Some((condition, number)) = condition(&path.trace.dag, constraint.label) else {
            continue;
        };
        match found.entry((constraint.site, condition)) {
            Entry::Vacant(new) => {
                let (first, last, goes_on) = (number, number, constraint.taken);
                new.insert(Rounds { index, first, last, step: None, count: 1, goes_on });
            }
            Entry::Occupied(known) => known.into_mut().advance(number),
        }
    }
    let is_loop =
        |rounds: &Rounds| rounds.count >= FEW_ROUNDS && rounds.step.is_some_and(|step| step != 0);
    let all = found.into_iter().map(|((site, condition), rounds)| (site, condition, rounds));
    let mut loops: Vec<_> = all.filter(|(_, _, rounds)| is_loop(rounds)).collect();
    loops.sort_unstable_by_key(|(_, _, rounds)| rounds.index);
    loops
}

/// Numbers at which programs change: those of branches of which one side was never taken, then
/// powers, each with its neighbours.
fn numbers(context: &Context<'_>) -> Vec<u64> {
    let is_open = |site: &u32| match context.sites.sites.get(*site as usize).map(|site| &site.kind)
    {
        Some(&SiteKind::Branch { coverage }) => {
            !context.coverage.has(coverage) || !context.coverage.has(coverage + 1)
        }
        _ => false,
    };
    let compared =
        context.sites.compared.iter().filter(|(site, _)| is_open(site)).map(|(_, number)| *number);
    let powers = (3..=24).map(|power| 1_u64 << power);
    let decimal = (1..=7).map(|power| 10_u64.pow(power));
    let mut powers: Vec<u64> = powers.chain(decimal).collect();
    powers.sort_unstable();
    let near = |number: u64| [number, number.wrapping_add(1), number.wrapping_sub(1)];
    compared.take(MAX_NUMBERS).chain(powers).flat_map(near).collect()
}

impl Loop {
    fn new(
        input: &[u8],
        path: &TracedPath,
        (site, condition, rounds): Found,
        numbers: &[u64],
    ) -> Loop {
        let Rounds { index, first, step, goes_on, .. } = rounds;
        let step = step.unwrap_or(1);
        let bits = path.trace.dag.bits(condition.value);
        let fits = |number: &u64| bits >= 64 || *number >> bits == 0;
        // The number of rounds, and the number that the constant comes to.
        let both = |&number: &u64| [first.wrapping_add(number.wrapping_mul(step)), number];
        let mut seen = FxHashSet::default();
        let new = |number: &u64| fits(number) && seen.insert(*number);
        let numbers = numbers.iter().flat_map(both).filter(new).take(MAX_NUMBERS).collect();
        let before = path.condition.given.iter().chain(&path.condition.constraints[..index]);
        let prefix =
            before.map(|constraint| Lit::new(constraint.label, constraint.taken)).collect();
        let (dag, input) = (path.trace.dag.clone(), input.to_vec());
        Loop { site, input, dag, prefix, condition, step, goes_on, numbers }
    }

    /// The condition with another constant.
    fn with(&mut self, number: u64) -> Label {
        let Condition { op, value, is_first } = self.condition;
        let bits = self.dag.bits(value);
        let number = if bits < 64 { number & ((1 << bits) - 1) } else { number };
        let constant = self.dag.constant(bits, number.into());
        let (a, b) = if is_first { (constant, value) } else { (value, constant) };
        self.dag.add(Node::binary(op, 1, a, b))
    }

    /// An input on which the loop is left when the constant has come to `number`.
    fn solve(&mut self, number: u64, max_len: usize, chain: &mut Chain) -> Answer {
        let before = Lit::new(self.with(number.wrapping_sub(self.step)), self.goes_on);
        let left = Lit::new(self.with(number), !self.goes_on);
        let mut solver = PathSolver::new(&self.dag, &self.prefix, &self.input, max_len);
        solver.solve(chain, self.prefix.len(), &[before], left)
    }
}

impl Whitebox<'_> {
    /// Takes note of the loops of a run.
    pub(super) fn learn_loops(&mut self, input: &[u8], path: &TracedPath, context: &Context<'_>) {
        self.loops.others = self.loops.others.saturating_add(1);
        for found in rounds(path) {
            let runs = self.loops.known.entry(found.0).or_default();
            if *runs < MAX_RUNS && self.loops.waiting.len() < MAX_WAITING {
                *runs += 1;
                self.loops.waiting.push_back(Loop::new(input, path, found, &numbers(context)));
            }
        }
    }

    /// The next input that leaves a loop after a number of rounds that may matter.
    pub(super) fn attempt_loop(&mut self, context: &mut Context<'_>) -> Option<Next> {
        let mut found = self.loops.waiting.pop_front()?;
        self.loops.others = 0;
        let Some(number) = found.numbers.pop_front() else { return Some(Next::Busy) };
        let started = context.clock.elapsed();
        context.solver.effort = Effort::Quick;
        let answer = found.solve(number, context.max_len, context.solver);
        context.stats.times.solving += context.clock.elapsed().saturating_sub(started);
        let site = found.site;
        let direction = u64::from(!found.goes_on);
        self.loops.waiting.push_back(found);
        let Answer::Sat(input) = answer else { return Some(Next::Busy) };
        if input.len() > context.max_len || !self.inputs.insert(hash_of(&input[..])) {
            return Some(Next::Busy);
        }
        self.expected = Some(Expected::Rounds { site, number });
        Some(Next::Run(Proposal {
            input,
            symbolic: true,
            origin: Origin::Flip { site, direction },
        }))
    }
}
