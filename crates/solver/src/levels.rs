//! Literals ordered by the variable that decides them, and compiled: the levels of the domain
//! solver's search.

use crate::query::Lit;
use expr::{Dag, Label, Op, Program, Registers};
use rustc_hash::FxHashMap;
use std::collections::BinaryHeap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Variable {
    Byte(u32),
    Length,
}

impl Variable {
    fn of_leaf(dag: &Dag, label: Label) -> Option<Variable> {
        match dag.op(label) {
            Op::Input => Some(Variable::Byte(dag.node(label).a)),
            Op::Len => Some(Variable::Length),
            _ => None,
        }
    }
}

/// One program for each variable.
pub(crate) struct Levels<'d> {
    pub variables: Vec<Variable>,
    pub programs: Vec<LevelProgram<'d>>,
}

/// What happens when one variable gets its value.
pub(crate) struct LevelProgram<'d> {
    program: Program<'d>,
    /// The parameters are the incoming frontier and then, unless no node uses it, the variable.
    uses_variable: bool,
    /// Wanted values of the program's first roots.
    wanted: Vec<bool>,
    /// Where each value of the outgoing frontier comes from.
    outgoing: Vec<Source>,
    incoming: usize,
}

#[derive(Clone, Copy)]
enum Source {
    Incoming(usize),
    Root(usize),
}

impl LevelProgram<'_> {
    pub(crate) fn load(&self, registers: &mut Registers, frontier: &[u128]) {
        self.program.load(registers);
        for (parameter, &value) in frontier.iter().enumerate() {
            self.program.set(registers, parameter, value);
        }
    }

    /// Gives the variable a value; false if that makes a literal false.
    pub(crate) fn run(&self, registers: &mut Registers, value: u64) -> bool {
        if self.uses_variable {
            self.program.set(registers, self.incoming, u128::from(value));
        }
        self.program.run(registers);
        self.wanted
            .iter()
            .enumerate()
            .all(|(root, &wanted)| (self.program.get(registers, root) == 1) == wanted)
    }

    /// The frontier after [`LevelProgram::run`].
    pub(crate) fn frontier(&self, registers: &Registers, incoming: &[u128]) -> Box<[u128]> {
        let value = |&source: &Source| match source {
            Source::Incoming(index) => incoming[index],
            Source::Root(root) => self.program.get(registers, root),
        };
        self.outgoing.iter().map(value).collect()
    }

    /// False if no literal depends on the variable.
    pub(crate) fn uses_variable(&self) -> bool {
        self.uses_variable
    }

    pub(crate) fn cost(&self) -> u64 {
        self.program.len() as u64
    }
}

impl<'d> Levels<'d> {
    /// `None` if a literal depends on a variable that is not in the list.
    pub(crate) fn new(dag: &'d Dag, variables: Vec<Variable>, lits: &[Lit]) -> Option<Levels<'d>> {
        let plan = Plan::new(dag, &variables, lits)?;
        let mut programs = Vec::with_capacity(variables.len());
        let mut incoming = Vec::new();
        for level in 0..variables.len() {
            let (program, outgoing) = plan.program(level as u32, &incoming, lits)?;
            programs.push(program);
            incoming = outgoing;
        }
        Some(Levels { variables, programs })
    }
}

/// When each node is computed and until when it is needed. Constants have no entry.
struct Plan<'d> {
    dag: &'d Dag,
    level: FxHashMap<Label, u32>,
    /// The nodes of each level that a later level uses, with the last such level.
    kept: Vec<Vec<(Label, u32)>>,
    leaf: Vec<Option<Label>>,
    lits_at: Vec<Vec<usize>>,
}

impl<'d> Plan<'d> {
    fn new(dag: &'d Dag, variables: &[Variable], lits: &[Lit]) -> Option<Plan<'d>> {
        let position: FxHashMap<Variable, u32> = variables
            .iter()
            .enumerate()
            .map(|(level, &variable)| (variable, level as u32))
            .collect();
        let mut plan = Plan {
            dag,
            level: FxHashMap::default(),
            kept: vec![Vec::new(); variables.len()],
            leaf: vec![None; variables.len()],
            lits_at: vec![Vec::new(); variables.len()],
        };
        let cone = cone(dag, lits);
        for &label in &cone {
            let level = match Variable::of_leaf(dag, label) {
                Some(variable) => Some(*position.get(&variable)?),
                None => plan
                    .operands(label)
                    .filter_map(|operand| plan.level.get(&operand).copied())
                    .max(),
            };
            if let Some(level) = level {
                plan.level.insert(label, level);
                if Variable::of_leaf(dag, label).is_some() {
                    plan.leaf[level as usize] = Some(label);
                }
            }
        }
        plan.keep(&cone);
        for (number, lit) in lits.iter().enumerate() {
            plan.lits_at[*plan.level.get(&lit.label)? as usize].push(number);
        }
        Some(plan)
    }

    fn operands(&self, label: Label) -> impl Iterator<Item = Label> + '_ {
        let operands = self.dag.operands(label).into_iter();
        operands.chain(self.dag.table_labels(label).iter().copied()).filter(|&operand| operand != 0)
    }

    fn keep(&mut self, cone: &[Label]) {
        let mut last_use: FxHashMap<Label, u32> = FxHashMap::default();
        for &user in cone {
            let Some(&level) = self.level.get(&user) else { continue };
            for operand in self.operands(user) {
                let last = last_use.entry(operand).or_insert(level);
                *last = level.max(*last);
            }
        }
        for &label in cone {
            let (Some(&level), Some(&last)) = (self.level.get(&label), last_use.get(&label)) else {
                continue;
            };
            if last > level {
                self.kept[level as usize].push((label, last));
            }
        }
    }

    fn program(
        &self,
        level: u32,
        incoming: &[(Label, u32)],
        lits: &[Lit],
    ) -> Option<(LevelProgram<'d>, Vec<(Label, u32)>)> {
        let at = level as usize;
        let mut parameters: Vec<Label> = incoming.iter().map(|&(label, _)| label).collect();
        parameters.extend(self.leaf[at]);
        let wanted: Vec<bool> = self.lits_at[at].iter().map(|&number| lits[number].value).collect();
        let mut roots: Vec<Label> =
            self.lits_at[at].iter().map(|&number| lits[number].label).collect();
        let (mut sources, mut outgoing) = (Vec::new(), Vec::new());
        for (index, &(label, last)) in
            incoming.iter().enumerate().filter(|(_, (_, last))| *last > level)
        {
            sources.push(Source::Incoming(index));
            outgoing.push((label, last));
        }
        for &(label, last) in &self.kept[at] {
            sources.push(Source::Root(roots.len()));
            roots.push(label);
            outgoing.push((label, last));
        }
        let compiled = LevelProgram {
            program: Program::compile(self.dag, &roots, &parameters)?,
            uses_variable: self.leaf[at].is_some(),
            wanted,
            outgoing: sources,
            incoming: incoming.len(),
        };
        Some((compiled, outgoing))
    }
}

/// All nodes below the literals, in increasing order.
pub(crate) fn cone(dag: &Dag, lits: &[Lit]) -> Vec<Label> {
    let mut heap: BinaryHeap<Label> = lits.iter().map(|lit| lit.label).collect();
    let mut cone = Vec::new();
    while let Some(label) = heap.pop() {
        if cone.last() != Some(&label) {
            cone.push(label);
            let operands = dag.operands(label);
            heap.extend(
                operands.iter().chain(dag.table_labels(label)).filter(|&&operand| operand != 0),
            );
        }
    }
    cone.reverse();
    cone
}
