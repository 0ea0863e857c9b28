//! Local search on a compiled evaluator.
//!
//! The literals are compiled into one program. From the current input on, one variable at a time
//! takes the value that brings the literals nearest to being true (see [`Distances`]); words of
//! neighbouring bytes are also counted up and down. Where nothing helps, a variable of a broken
//! literal is changed at random. Only what depends on the changed variable is computed again. The
//! search is bounded by a number of instructions and gives up as unknown: it answers "unsat" only
//! where the values of one variable are exhausted.

use crate::byte_set::ByteSet;
use crate::distance::Distances;
use crate::domain::Problem;
use crate::levels::cone;
use crate::query::{Answer, Link, Query, UnknownReason};
use crate::truth::Truths;
use expr::{Dependents, Label, Op, Program, Registers};

/// See the module.
pub struct DescentLink {
    truths: Truths,
    registers: Registers,
    budget: u64,
    /// Share of the budget that is granted, in sixteenths: less after failures, more after
    /// successes.
    credit: u64,
}

impl DescentLink {
    pub const NAME: &'static str = "descent";
    pub const DEFAULT_BUDGET: u64 = 4_000_000;

    /// One query may take `budget` instructions.
    pub fn new(budget: u64) -> DescentLink {
        DescentLink {
            truths: Truths::default(),
            registers: Registers::default(),
            budget,
            credit: FULL_CREDIT,
        }
    }
}

const FULL_CREDIT: u64 = 16;
/// Larger programs are not searched.
const MAX_PROGRAM: usize = 50_000;
const MAX_VARIABLES: usize = 256;
/// Variables of one broken literal of which all values are tried in one step.
const MAX_TRIED: usize = 8;
/// Steps for which a random change is kept.
const KEPT_STEPS: u32 = 4;
/// Random changes without progress after which the search starts again.
const MAX_SHAKES: u32 = 64;

impl Link for DescentLink {
    fn name(&self) -> &'static str {
        DescentLink::NAME
    }

    fn solve(&mut self, query: &Query) -> Answer {
        let Some(problem) = Problem::new(&mut self.truths, query) else { return Answer::Unsat };
        // The length has no neighbourhood that a search could follow.
        if problem.length.is_some() || problem.bytes.len() > MAX_VARIABLES {
            return Answer::Unknown(UnknownReason::Unsupported);
        }
        let budget = self.budget * self.credit / FULL_CREDIT;
        let Some(landscape) = Landscape::new(query, &problem) else {
            return Answer::Unknown(UnknownReason::Unsupported);
        };
        match Walk::new(&landscape, &mut self.registers, budget).run() {
            Some(bytes) => {
                self.credit = (self.credit + 4).min(FULL_CREDIT);
                Answer::Sat(query.input_with(problem.preferred(query).chain(bytes), None))
            }
            None => {
                self.credit = (self.credit - 1).max(1);
                Answer::Unknown(UnknownReason::Budget)
            }
        }
    }
}

/// The compiled literals.
struct Landscape<'d> {
    distances: Distances,
    program: Program<'d>,
    /// Byte and values of each variable, the preferred ones first.
    variables: Vec<(u32, Vec<u8>)>,
    dependents: Vec<Dependents>,
    /// The literals that depend on each variable, and the variables of each literal.
    literals_of: Vec<Vec<u32>>,
    variables_of: Vec<Vec<u32>>,
}

impl<'d> Landscape<'d> {
    /// `None` if it is too large.
    fn new(query: &Query<'d>, problem: &Problem) -> Option<Landscape<'d>> {
        let dag = query.dag;
        let is_input = |label: &Label| dag.op(*label) == Op::Input;
        let mut leaves: Vec<Label> =
            cone(dag, &problem.joint).into_iter().filter(is_input).collect();
        leaves.sort_unstable_by_key(|&leaf| dag.node(leaf).a);
        let distances = Distances::new(dag, &problem.joint);
        let program = Program::compile(dag, &distances.roots, &leaves)?;
        if program.len() > MAX_PROGRAM {
            return None;
        }
        let variables =
            leaves.iter().map(|&leaf| variable(dag.node(leaf).a, query, problem)).collect();
        let dependents = program.dependents();
        let (literals_of, variables_of) = relate(&distances, &dependents);
        Some(Landscape { distances, program, variables, dependents, literals_of, variables_of })
    }
}

fn variable(byte: u32, query: &Query, problem: &Problem) -> (u32, Vec<u8>) {
    let domain = problem
        .bytes
        .iter()
        .find(|&&(other, _)| other == byte)
        .map_or(ByteSet::ALL, |&(_, domain)| domain);
    (byte, domain.preferred(query.current.get(byte as usize).copied()).collect())
}

fn relate(distances: &Distances, dependents: &[Dependents]) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let mut variables_of = vec![Vec::new(); distances.tops.len()];
    let mut literals_of = Vec::new();
    for (variable, dependents) in dependents.iter().enumerate() {
        let mut literals: Vec<u32> =
            dependents.roots.iter().map(|&root| distances.literal_of[root as usize]).collect();
        // Roots come in the order of their literals.
        literals.dedup();
        for &literal in &literals {
            variables_of[literal as usize].push(variable as u32);
        }
        literals_of.push(literals);
    }
    (literals_of, variables_of)
}

/// A search under way.
struct Walk<'w> {
    landscape: &'w Landscape<'w>,
    registers: &'w mut Registers,
    values: Vec<u8>,
    /// The distance of each literal, and their sum.
    costs: Vec<u64>,
    total: u64,
    /// The step before which each variable keeps a value that it was given at random: the best
    /// change would only undo it.
    kept_until: Vec<u32>,
    step: u32,
    budget: u64,
    random: Random,
}

/// Values of some variables.
type Change = Vec<(u32, u8)>;

impl<'w> Walk<'w> {
    fn new(landscape: &'w Landscape<'w>, registers: &'w mut Registers, budget: u64) -> Walk<'w> {
        let values = landscape.variables.iter().map(|(_, values)| values[0]).collect();
        let costs = vec![0; landscape.distances.tops.len()];
        let kept_until = vec![0; landscape.variables.len()];
        Walk {
            landscape,
            registers,
            values,
            costs,
            total: 0,
            kept_until,
            step: 0,
            budget,
            random: Random(SEED),
        }
    }

    /// Values that make all literals true.
    fn run(mut self) -> Option<Vec<(u32, u8)>> {
        self.landscape.program.load(self.registers);
        self.restart();
        let (mut best, mut stuck) = (self.total, 0);
        while self.total > 0 {
            let broken = self.broken()?;
            if !self.improve(broken)? {
                self.shake(broken)?;
                stuck += 1;
            }
            if self.total < best {
                (best, stuck) = (self.total, 0);
            }
            if stuck > MAX_SHAKES {
                self.restart();
                (best, stuck) = (u64::MAX, 0);
            }
        }
        let bytes = self.landscape.variables.iter().map(|&(byte, _)| byte);
        Some(bytes.zip(self.values).collect())
    }

    /// Goes back to the values that are preferred.
    fn restart(&mut self) {
        self.values = self.landscape.variables.iter().map(|(_, values)| values[0]).collect();
        for (variable, &value) in self.values.iter().enumerate() {
            self.landscape.program.set(self.registers, variable, u128::from(value));
        }
        self.landscape.program.run(self.registers);
        self.costs = (0..self.costs.len() as u32).map(|literal| self.cost(literal)).collect();
        self.total = self.costs.iter().sum();
    }

    fn cost(&self, literal: u32) -> u64 {
        let value = |root: u32| self.landscape.program.get(self.registers, root as usize);
        self.landscape.distances.of(self.landscape.distances.tops[literal as usize], &value)
    }

    /// One of the literals that are not true, if it can be changed at all.
    fn broken(&mut self) -> Option<usize> {
        let broken: Vec<usize> =
            (0..self.costs.len()).filter(|&literal| self.costs[literal] > 0).collect();
        let literal = broken[self.random.below(broken.len())];
        (!self.landscape.variables_of[literal].is_empty()).then_some(literal)
    }

    /// Makes the best change that brings the whole nearer; false if there is none, `None` at the
    /// end of the budget.
    fn improve(&mut self, broken: usize) -> Option<bool> {
        let landscape = self.landscape;
        let variables = &landscape.variables_of[broken];
        let first = self.random.below(variables.len());
        let (mut best, mut change) = (self.total, Change::new());
        for &variable in variables.iter().cycle().skip(first).take(variables.len().min(MAX_TRIED)) {
            if self.kept_until[variable as usize] > self.step {
                continue;
            }
            let now = self.values[variable as usize];
            for &value in
                landscape.variables[variable as usize].1.iter().filter(|&&value| value != now)
            {
                let total = self.look(&[(variable, value)])?;
                if total < best {
                    (best, change) = (total, vec![(variable, value)]);
                }
            }
            self.look(&[(variable, now)])?;
        }
        for step in word_steps(landscape, variables, first, &self.values) {
            let back: Change = step.iter().map(|&(v, _)| (v, self.values[v as usize])).collect();
            let total = self.look(&step)?;
            if total < best {
                (best, change) = (total, step);
            }
            self.look(&back)?;
        }
        self.step += 1;
        self.accept(&change)?;
        Some(!change.is_empty())
    }

    /// Changes a variable of a literal at random.
    fn shake(&mut self, broken: usize) -> Option<()> {
        let variables = &self.landscape.variables_of[broken];
        let variable = variables[self.random.below(variables.len())];
        let values = &self.landscape.variables[variable as usize].1;
        let value = values[self.random.below(values.len())];
        self.kept_until[variable as usize] = self.step + KEPT_STEPS;
        self.accept(&[(variable, value)])
    }

    /// The sum of distances after a change, which stays in the registers but nowhere else.
    fn look(&mut self, change: &[(u32, u8)]) -> Option<u64> {
        let landscape = self.landscape;
        let mut total = self.total;
        for &(variable, value) in change {
            let dependents = &landscape.dependents[variable as usize].instructions;
            self.budget = self.budget.checked_sub(8 + dependents.len() as u64)?;
            landscape.program.set(self.registers, variable as usize, u128::from(value));
            landscape.program.run_again(self.registers, dependents);
        }
        let mut literals =
            change.iter().flat_map(|&(variable, _)| &landscape.literals_of[variable as usize]);
        if let [(variable, _)] = change {
            for &literal in &landscape.literals_of[*variable as usize] {
                total = total - self.costs[literal as usize] + self.cost(literal);
            }
        } else if literals.next().is_some() {
            total = (0..self.costs.len() as u32).map(|literal| self.cost(literal)).sum();
        }
        Some(total)
    }

    fn accept(&mut self, change: &[(u32, u8)]) -> Option<()> {
        self.look(change)?;
        for &(variable, value) in change {
            self.values[variable as usize] = value;
            for &literal in &self.landscape.literals_of[variable as usize] {
                self.costs[literal as usize] = self.cost(literal);
            }
        }
        self.total = self.costs.iter().sum();
        Some(())
    }
}

/// Words of neighbouring bytes, lowest byte first or last, one up and one down.
fn word_steps(
    landscape: &Landscape,
    variables: &[u32],
    first: usize,
    values: &[u8],
) -> Vec<Change> {
    let mut steps = Vec::new();
    for width in [2, 4, 8] {
        let Some(word) = variables.get(first..first + width) else { continue };
        let byte = |variable: u32| landscape.variables[variable as usize].0;
        if byte(word[width - 1]) - byte(word[0]) != width as u32 - 1 {
            continue;
        }
        let (up, down): (Vec<u32>, Vec<u32>) =
            (word.to_vec(), word.iter().rev().copied().collect());
        for order in [up, down] {
            for step in [1, u64::MAX] {
                let number =
                    order.iter().rev().fold(0, |sum, &v| sum << 8 | u64::from(values[v as usize]));
                let bytes = number.wrapping_add(step).to_le_bytes();
                let change: Change = order.iter().copied().zip(bytes).collect();
                let allowed =
                    |&(v, value): &(u32, u8)| landscape.variables[v as usize].1.contains(&value);
                if change.iter().all(allowed) {
                    steps.push(change);
                }
            }
        }
    }
    steps
}

const SEED: u64 = 0x7461_7272_6167_6f6e;

/// The same numbers for every query.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit.max(1) as u64) as usize
    }
}
