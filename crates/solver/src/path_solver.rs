//! All questions about one path: what they have in common is computed once.

mod products;
mod within;

use crate::chain::{Chain, Recalled};
use crate::checker::Checker;
use crate::components::{Components, Slot};
use crate::oversize::Oversize;
use crate::path_domains::PathDomains;
use crate::product::Product;
use crate::query::{Answer, Effort, Lit, Query, UnknownReason};
use crate::ranges::Ranges;
use crate::slice::{Slice, Slicer};
use expr::{Dag, Evaluator, Label, Support, SupportId, Supports};
use rustc_hash::FxHashSet;
use std::time::Instant;

/// A path condition of one run, prepared for many queries.
pub struct PathSolver<'a> {
    dag: &'a Dag,
    path: &'a [Lit],
    current: &'a [u8],
    max_len: usize,
    filler: u8,
    supports: Supports,
    /// The support of each literal of the path.
    support: Vec<SupportId>,
    /// One more than the largest byte that the first n literals use, for each n.
    needed_len: Vec<u64>,
    components: Components,
    oversize: Oversize,
    domains: PathDomains,
    ranges: Ranges,
    product: Product,
    checker: Checker<'a>,
    /// Values on the current input, once they are asked for.
    values: Option<Evaluator>,
}

/// Numbers of last bytes of a goal that are tried alone.
const WINDOWS: [u32; 2] = [4, 16];
/// Goals that hang together with at most so many literals, and have at most so many bytes, are solved as they are.
const FEW_LITERALS: usize = 16;
const FEW_BYTES: usize = 8;
/// Goals with more bytes are not tried with all of their bytes free and others fixed.
const LARGEST_WINDOW: usize = 64;

/// Values of one variable that are tried while others depend on it too.
const MOST_TRIES: usize = 8;

/// What is asked for beyond the path itself.
struct Goal<'g> {
    prefix: usize,
    extra: &'g [Lit],
    goal: Lit,
    support: Support,
    /// Roots of the components that the goal belongs to.
    roots: Vec<Slot>,
    /// Literals of the path that hang together with the goal.
    literals: Vec<u32>,
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

    /// Literals of the path that do not hold on the current input: the trace is wrong about them.
    pub fn violated(&self) -> &[u32] {
        self.checker.violated()
    }

    /// An input that follows the path up to literal `index` and there makes it false.
    pub fn flip(&mut self, chain: &mut Chain, index: usize) -> Answer {
        self.solve(chain, index, &[], self.path[index].negated())
    }

    /// An input on which the first `prefix` literals of the path, all of `extra` and the `goal` hold.
    pub fn solve(&mut self, chain: &mut Chain, prefix: usize, extra: &[Lit], goal: Lit) -> Answer {
        let id = self.supports.of(self.dag, goal.label);
        let support = self.supports.get(id).clone();
        let mut goal = Goal { prefix, extra, goal, support, roots: Vec::new(), literals: Vec::new() };
        if self.is_impossible(chain, goal.goal) {
            return Answer::Unsat;
        }
        if let Some(answer) = self.solve_unary(chain, &goal) {
            return answer;
        }
        if chain.effort == Effort::Glance {
            return Answer::Unknown(UnknownReason::Budget);
        }
        self.collect(&mut goal);
        if let Some(answer) = self.solve_product(chain, &goal) {
            return answer;
        }
        let slice = self.slice(chain, &goal);
        if slice.as_ref().is_some_and(Slice::is_contradictory) {
            return Answer::Unsat;
        }
        let query = slice.as_ref().and_then(|slice| self.slice_query(chain, slice));
        let mut recalled =
            query.as_ref().map(|query| chain.recall(query, &mut meets(&mut self.checker, &goal)));
        if let Some(Recalled::Answer(answer)) = recalled {
            return answer;
        }
        if let (Some(query), Some(Recalled::New(question))) = (&query, &mut recalled)
            && let Some(answer) = chain.solve_texts(query, &mut meets(&mut self.checker, &goal))
        {
            if let Some(question) = question.take() {
                chain.remember(question, &answer);
            }
            return answer;
        }
        if let Some(answer) = self.solve_local(chain, &goal) {
            return answer;
        }
        let mut check = meets(&mut self.checker, &goal);
        match (slice.is_some(), query, recalled) {
            (false, ..) => Answer::Unknown(UnknownReason::Budget),
            (_, _, Some(Recalled::GivenUp(reason))) => Answer::Unknown(reason),
            (_, Some(query), Some(Recalled::New(question))) => {
                chain.solve_slice(&query, question, &mut check)
            }
            _ if check(self.current) => Answer::Sat(self.current.to_vec()),
            _ => Answer::Unknown(UnknownReason::WrongModel),
        }
    }

    /// Whether a literal holds on an input.
    pub fn is_true(&mut self, lit: Lit, input: &[u8]) -> bool {
        self.checker.check(input, 0, &[], lit)
    }

    /// The numbers of the literals of the path that do not hold on an input, in order.
    pub fn departures<'s>(&'s mut self, input: &'s [u8]) -> impl Iterator<Item = usize> + use<'s, 'a> {
        self.checker.departures(input)
    }

    /// The last byte that the literal depends on.
    pub fn last_byte(&mut self, lit: Lit) -> Option<usize> {
        let id = self.supports.of(self.dag, lit.label);
        self.supports.get(id).last_byte().map(|byte| byte as usize)
    }

    /// True if no input at all makes the literal true, as far as ranges of values tell.
    fn is_impossible(&mut self, chain: &mut Chain, goal: Lit) -> bool {
        if !chain.ranges.enabled {
            return false;
        }
        let start = Instant::now();
        let impossible = self.ranges.implies(self.dag, goal.negated());
        let answer = if impossible { Answer::Unsat } else { Answer::Unknown(UnknownReason::Unsupported) };
        chain.ranges.counters.count(&answer, start.elapsed());
        impossible
    }

    /// A goal about one byte, or about the length. If no value passes the conditions on that variable alone, there is no answer
    /// whatever the others say; otherwise a few values are tried with all other variables as they are.
    fn solve_unary(&mut self, chain: &mut Chain, goal: &Goal) -> Option<Answer> {
        let usable =
            chain.unary.enabled && goal.extra.is_empty() && !self.checker.violated_before(goal.prefix);
        let byte = goal.support.single_byte();
        let slot = match byte {
            Some(byte) => Slot::byte(byte),
            None if goal.support == Support::length() => Slot::LENGTH,
            None => return None,
        };
        if !usable {
            return None;
        }
        let start = Instant::now();
        let alone = self.components.is_alone(slot, goal.prefix as u32);
        let proposals = match byte {
            Some(byte) => self.byte_proposals(chain, goal, byte, if alone { 1 } else { MOST_TRIES }),
            None => self.length_proposal(chain, goal).into_iter().collect(),
        };
        let answer = self.first_good(chain, goal, proposals, alone);
        chain.unary.counters.count(&answer, start.elapsed());
        (!matches!(answer, Answer::Unknown(_))).then_some(answer)
    }

    /// The first input that passes the check; without any to try, there is none. An `alone` variable's must pass.
    fn first_good(&mut self, chain: &mut Chain, goal: &Goal, proposals: Vec<Vec<u8>>, alone: bool) -> Answer {
        if proposals.is_empty() {
            return Answer::Unsat;
        }
        let mut check = meets(&mut self.checker, goal);
        match proposals.into_iter().find(|input| check(input)) {
            Some(input) => Answer::Sat(input),
            None => {
                chain.unary.counters.wrong += u64::from(alone);
                Answer::Unknown(UnknownReason::WrongModel)
            }
        }
    }

    fn byte_proposals(&mut self, chain: &mut Chain, goal: &Goal, byte: u32, tries: usize) -> Vec<Vec<u8>> {
        let truths = &mut chain.truths;
        let domain = self.domains.byte(truths, self.dag, self.path, byte, goal.prefix as u32);
        let wanted = self.domains.truth_of_byte(truths, self.dag, goal.goal);
        let current = self.current.get(byte as usize).copied();
        let values = domain.intersection(wanted).preferred(current).take(tries);
        values.map(|value| self.query(goal.goal).input_with([(byte, value)], None)).collect()
    }

    fn length_proposal(&mut self, chain: &mut Chain, goal: &Goal) -> Option<Vec<u8>> {
        let truths = &mut chain.truths;
        let largest = self.max_len as u64;
        let domain = self.domains.length(truths, self.dag, self.path, goal.prefix as u32, largest);
        let wanted = self.domains.truth_of_length(truths, self.dag, goal.goal, largest);
        let possible = domain.intersection(&wanted).at_least(self.needed_len(goal));
        let len = possible.nearest(self.current.len() as u64)?;
        Some(self.query(goal.goal).input_with([], Some(len as usize)))
    }

    fn slice_query<'s>(&self, chain: &Chain, slice: &'s Slice) -> Option<Query<'s>>
    where
        'a: 's,
    {
        let (path, goal) = slice.split_goal()?;
        Some(Query { dag: &slice.dag, path, effort: chain.effort, ..self.query(goal) })
    }

    fn query(&self, goal: Lit) -> Query<'a> {
        Query { filler: self.filler, ..Query::new(self.dag, &[], goal, self.current, self.max_len) }
    }

    /// Any use of byte i implies that the input is longer than i.
    fn needed_len(&self, goal: &Goal) -> u64 {
        let own = goal.support.last_byte().map_or(0, |byte| u64::from(byte) + 1);
        own.max(self.needed_len[goal.prefix])
    }

    /// Finds the literals that share variables with the goal, directly or through others. Extra literals and
    /// violated ones must be made true in any case, so they count as parts of the goal.
    fn collect(&mut self, goal: &mut Goal) {
        let mut start = self.supports.of(self.dag, goal.goal.label);
        let violated =
            self.checker.violated().iter().copied().filter(|&number| (number as usize) < goal.prefix);
        let violated = violated.map(|number| self.path[number as usize]);
        for lit in goal.extra.iter().copied().chain(violated) {
            let id = self.supports.of(self.dag, lit.label);
            start = self.supports.union(start, id);
        }
        let start = self.supports.get(start);
        let prefix = goal.prefix as u32;
        let mut roots: Vec<Slot> =
            start.bytes().map(|byte| self.components.root(Slot::byte(byte), prefix)).collect();
        roots.extend(start.uses_len().then(|| self.components.root(Slot::LENGTH, prefix)));
        roots.sort_unstable();
        roots.dedup();
        for root in &roots {
            self.components.collect(*root, prefix, &mut goal.literals);
        }
        goal.roots = roots;
        // Violated literals without variables are in no component.
        goal.literals.extend(self.checker.violated().iter().filter(|&&number| number < prefix));
        goal.literals.sort_unstable();
        goal.literals.dedup();
    }

    /// Solves for some of the goal's own variables while all others keep their values.
    fn solve_local(&mut self, chain: &mut Chain, goal: &Goal) -> Option<Answer> {
        let usable =
            chain.local.enabled && goal.extra.is_empty() && !self.checker.violated_before(goal.prefix);
        let small = goal.literals.len() <= FEW_LITERALS && goal.support.byte_count() <= FEW_BYTES;
        if !usable || small || !chain.local.is_worth_asking() {
            return None;
        }
        self.local_windows(goal).into_iter().find_map(|free| {
            let start = Instant::now();
            let answer = self.solve_window(chain, goal, &free);
            chain.local.counters.count(&answer, start.elapsed());
            matches!(answer, Answer::Sat(_)).then_some(answer)
        })
    }

    /// The sets of variables to try: the last bytes of the goal, then all of its bytes if it shares literals with
    /// others. In a scan from left to right the last bytes decide.
    fn local_windows(&self, goal: &Goal) -> Vec<Support> {
        let count = goal.support.byte_count();
        let last = WINDOWS.into_iter().filter(|&window| (window as usize) < count);
        let mut windows: Vec<Support> = last.map(|window| goal.support.last_bytes(window)).collect();
        let is_foreign = |&number: &u32| {
            let support = self.supports.get(self.support[number as usize]);
            !goal.support.covers(support)
        };
        if count <= LARGEST_WINDOW && goal.literals.iter().any(is_foreign) {
            windows.push(goal.support.clone());
        }
        windows
    }

    fn solve_window(&mut self, chain: &mut Chain, goal: &Goal, free: &Support) -> Answer {
        let Some(slice) = self.local_slice(chain, goal, free) else {
            return Answer::Unknown(UnknownReason::Budget);
        };
        let query = self.slice_query(chain, &slice);
        let mut check = meets(&mut self.checker, goal);
        match query {
            Some(query) if !slice.is_contradictory() => chain.solve_locally(&query, &mut check),
            _ => Answer::Unknown(UnknownReason::Unsupported),
        }
    }

    /// `None` if it gets too large.
    fn local_slice(&mut self, chain: &mut Chain, goal: &Goal, free: &Support) -> Option<Slice> {
        let mut slicer = Slicer::new(self.dag);
        if free.uses_len() {
            self.add_length(chain, goal, &mut slicer);
        }
        let summarised = free.uses_len() && self.summarise_length(chain, goal).is_some();
        let Self { dag, path, current, supports, support, values, .. } = self;
        let concerned = |&number: &u32| {
            let support = supports.get(support[number as usize]);
            support.intersects(free) && !(summarised && *support == Support::length())
        };
        let lits: Vec<Lit> =
            goal.literals.iter().copied().filter(concerned).map(|number| path[number as usize]).collect();
        let mut evaluation = values.get_or_insert_with(|| started(dag, current)).again(dag, current);
        let mut fixed = |label: Label| {
            let id = supports.of(dag, label);
            (!supports.get(id).intersects(free)).then(|| evaluation.eval(label))
        };
        for lit in lits.into_iter().chain([goal.goal]) {
            slicer.add_fixed(lit, &mut fixed);
            if slicer.len() > chain.max_nodes() {
                return None;
            }
        }
        Some(slicer.finish())
    }

    /// `None` if it gets too large.
    fn slice(&mut self, chain: &mut Chain, goal: &Goal) -> Option<Slice> {
        let (prefix, nodes) = (goal.prefix as u32, chain.max_nodes());
        if self.oversize.holds(&self.components, &goal.roots, prefix, nodes) {
            return None;
        }
        let slice = self.try_slice(chain, goal);
        if slice.is_none() {
            self.oversize.note(&goal.roots, prefix, nodes);
        }
        slice
    }

    fn try_slice(&mut self, chain: &mut Chain, goal: &Goal) -> Option<Slice> {
        let mut slicer = Slicer::new(self.dag);
        let uses_len = |solver: &Self, id: SupportId| solver.supports.get(id).uses_len();
        let mut length = goal.support.uses_len()
            || goal.literals.iter().any(|&number| uses_len(self, self.support[number as usize]));
        for lit in goal.extra {
            let id = self.supports.of(self.dag, lit.label);
            length |= uses_len(self, id);
        }
        let summarised = length && self.summarise_length(chain, goal).is_some();
        let mut limited = FxHashSet::default();
        for &number in &goal.literals {
            let support = self.supports.get(self.support[number as usize]);
            let crowded = |byte: &u32| self.domains.is_crowded(*byte, goal.prefix as u32);
            if let Some(byte) = support.single_byte().filter(crowded) {
                if limited.insert(byte) {
                    let truths = &mut chain.truths;
                    let domain = self.domains.byte(truths, self.dag, self.path, byte, goal.prefix as u32);
                    slicer.limit_byte(byte, domain);
                }
            } else if !(summarised && *support == Support::length()) {
                slicer.add(self.path[number as usize]);
            }
            if slicer.len() > chain.max_nodes() {
                return None;
            }
        }
        if length {
            self.add_length(chain, goal, &mut slicer);
        }
        for &lit in goal.extra {
            slicer.add(lit);
        }
        slicer.add(goal.goal);
        (slicer.len() <= chain.max_nodes()).then(|| slicer.finish())
    }

    /// What the path says about the length alone, if that is one interval.
    fn summarise_length(&mut self, chain: &mut Chain, goal: &Goal) -> Option<(u64, u64)> {
        let largest = self.max_len as u64;
        let domain = self.domains.length(&mut chain.truths, self.dag, self.path, goal.prefix as u32, largest);
        match *domain.intervals() {
            [interval] => Some(interval),
            _ => None,
        }
    }

    fn add_length(&mut self, chain: &mut Chain, goal: &Goal, slicer: &mut Slicer) {
        let (first, last) = self.summarise_length(chain, goal).unwrap_or((0, self.max_len as u64));
        slicer.require_length(first.max(self.needed_len(goal)));
        slicer.limit_length(last);
    }
}

/// Memory for the values on an input.
fn started(dag: &Dag, input: &[u8]) -> Evaluator {
    let mut values = Evaluator::new();
    values.under(dag, input);
    values
}

/// Whether an input meets the goal, and the path before it.
fn meets<'s>(checker: &'s mut Checker, goal: &'s Goal) -> impl FnMut(&[u8]) -> bool {
    |input| checker.check(input, goal.prefix, goal.extra, goal.goal)
}
